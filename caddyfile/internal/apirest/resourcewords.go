package apirest

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/apierrors"
	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// readItem reads where the resource is in answers, to all operations or to those of one kind.
func readItem(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "a JSON Pointer such as /result, and perhaps read, create, replace, update or action in front"
	words, err := parse.LiteralArguments(d, form)
	switch {
	case err != nil:
		return err
	case len(words) > 2:
		return d.Errf("item: unexpected '%s', expected %s", words[2], form)
	case len(words) == 1:
		if r.Item != "" {
			return d.Err("item is given twice")
		}
		r.Item = words[0]
		return nil
	}
	kind := resource.Kind(words[0])
	if _, ok := r.ItemOf[kind]; ok {
		return d.Errf("item %s is given twice", kind)
	}
	if r.ItemOf == nil {
		r.ItemOf = make(map[resource.Kind]string)
	}
	r.ItemOf[kind] = words[1]
	return nil
}

// readNested reads a resource below another.
func readNested(d *caddyfile.Dispenser, r *resource.Resource, around surroundings) error {
	path := r.Path
	below, err := readResource(d, surroundings{func(below resource.Resource) resource.Resource {
		return around.enclose(resource.Resource{Path: path, Nested: []resource.Resource{below}})
	}, around.notePath, around.unlessJSON})
	if err != nil {
		return err
	}
	for _, other := range r.Nested {
		if strings.Trim(other.Path, "/") == strings.Trim(below.Path, "/") {
			return d.Errf("nested %s is given twice", below.Path)
		}
	}
	r.Nested = append(r.Nested, below)
	return nil
}

// readMediaTypes reads the media types that pass as they are.
func readMediaTypes(d *caddyfile.Dispenser, before []string) ([]string, error) {
	if err := parse.Once(d, len(before) > 0); err != nil {
		return nil, err
	}
	return parse.LiteralArguments(d, "media types such as text/csv or image/*")
}

// readValues reads the words that a field may have.
func readValues(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "a field and its words, such as `values state published=1 draft=0`"
	if !d.NextArg() {
		return d.Errf("values: expected %s", form)
	}
	field := d.Val()
	if strings.Contains(field, "=") {
		return d.Errf("values: unexpected '%s', expected %s", field, form)
	}
	if _, ok := r.Values[field]; ok {
		return d.Errf("values %s is given twice", field)
	}
	if d.CountRemainingArgs() == 0 {
		return d.Errf("values %s: expected words such as draft, or draft=0 where the upstream has another value", field)
	}
	words := make(map[string]string)
	for d.NextArg() {
		p, err := cutPair(d, "values "+field, parse.UndoShorthands(d.Val()), "words such as draft, or draft=0 where the upstream has another value", true)
		if err != nil {
			return err
		}
		if _, ok := words[p[0]]; ok {
			return d.Errf("values %s: %s is given twice", field, p[0])
		}
		words[p[0]] = p[1]
	}
	if r.Values == nil {
		r.Values = make(map[string]map[string]string)
	}
	r.Values[field] = words
	return nil
}

// fieldNames is what errors say is expected where fields are named.
const fieldNames = "names of fields such as title tags"

// readFields reads names of members, and adds them to those before.
func readFields(d *caddyfile.Dispenser, before []string, expected string) ([]string, error) {
	word := d.Val()
	added, err := parse.LiteralArguments(d, expected)
	if err != nil {
		return nil, err
	}
	for _, name := range added {
		if slices.Contains(before, name) {
			return nil, d.Errf("%s: %s is given twice", word, name)
		}
		before = append(before, name)
	}
	return before, nil
}

// readOff reads `off` behind the word of a convention, and reports whether it is there.
func readOff(d *caddyfile.Dispenser, r *resource.Resource) (bool, error) {
	word := d.Val()
	if !d.NextArg() {
		return false, nil
	}
	if d.Val() != "off" || d.CountRemainingArgs() > 0 {
		d.Prev()
		return false, nil
	}
	if slices.Contains(r.Off, word) {
		return true, d.Errf("%s off is given twice", word)
	}
	r.Off = append(r.Off, word)
	return true, nil
}

func readCreated(d *caddyfile.Dispenser, r *resource.Resource) error {
	if off, err := readOff(d, r); off || err != nil {
		return err
	}
	if err := parse.Once(d, r.Created != nil); err != nil {
		return err
	}
	words := d.RemainingArgs()
	if len(words) == 0 || len(words) > 2 || words[0] != "201" {
		return d.Err("created: expected 201, and perhaps a JSON Pointer of the new id such as /result/id, or off")
	}
	r.Created = &resource.Created{Status: 201}
	if len(words) == 2 {
		r.Created.ID = words[1]
	}
	return nil
}

func readDeleted(d *caddyfile.Dispenser, r *resource.Resource) error {
	if off, err := readOff(d, r); off || err != nil {
		return err
	}
	if err := parse.Once(d, r.Deleted != 0); err != nil {
		return err
	}
	status, err := parse.Argument(d, "204 or off")
	if err == nil && status != "204" {
		err = d.Errf("deleted: unexpected '%s', expected 204 or off", status)
	}
	r.Deleted = 204
	return err
}

// readFailWhen reads a condition on the answers to all operations of a resource, or to those
// of one kind.
//
//	fail_when [list|read|create|replace|update|delete|action] ...
func readFailWhen(d *caddyfile.Dispenser, r *resource.Resource) error {
	words, err := parse.LiteralArguments(d, apierrors.FailWhenForm)
	if err != nil {
		return err
	}
	rule := resource.FailWhen{}
	if kind := resource.Kind(words[0]); slices.Contains(resource.AnsweredKinds, kind) {
		if rule.On, words = kind, words[1:]; len(words) == 0 {
			return d.Errf("fail_when %s: expected %s", kind, apierrors.FailWhenForm)
		}
	} else if !strings.HasPrefix(words[0], "/") && words[0] != "" && words[0] != "header" && words[0] != "not_json" {
		return d.Errf("fail_when: unexpected '%s', expected a JSON Pointer, header, not_json or one of: list, read, create, replace, update, delete, action", words[0])
	}
	if rule.FailWhen, err = apierrors.FailWhen(d, words); err != nil {
		return err
	}
	r.FailWhen = append(r.FailWhen, rule)
	return nil
}
