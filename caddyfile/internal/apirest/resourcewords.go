package apirest

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/apierrors"
	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/link"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// readItem reads where the resource is in answers, to all operations or to those of one kind.
func readItem(d *caddyfile.Dispenser, r *resource.Resource) error {
	const form = "a JSON Pointer such as /result, and perhaps read, create, replace, update, delete or action in front"
	words, err := parse.LiteralArguments(form)(d)
	switch {
	case err != nil:
		return err
	case len(words) > 2:
		return d.Errf("item: unexpected '%s', expected %s", words[2], form)
	case len(words) == 1 && words[0] == "":
		return d.Err("item: expected a JSON Pointer such as /result; to say that the response itself is the resource, name the operation, as in `item read \"\"`")
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
func (b *block) readNested(d *caddyfile.Dispenser, r *resource.Resource, around surroundings) error {
	around.outer = append(slices.Clone(around.outer), r.Path)
	below, err := b.readResource(d, around)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.Nested, func(other resource.Resource) bool { return samePath(other.Path, below.Path) }) {
		return d.Errf("nested %s is given twice", below.Path)
	}
	r.Nested = append(r.Nested, below)
	return nil
}

// fieldNames is what errors say is expected where fields are named.
const fieldNames = "names of fields such as title tags"

// orOff returns the word of a convention, behind which `off` may stand instead of what read reads.
func orOff(r *resource.Resource, read parse.Word) parse.Word {
	return func(d *caddyfile.Dispenser) error {
		word, ahead := d.Val(), *d
		if !ahead.NextArg() || ahead.Val() != "off" || ahead.CountRemainingArgs() > 0 {
			return read(d)
		}
		d.NextArg()
		if slices.Contains(r.Off, word) {
			return d.Errf("%s off is given twice", word)
		}
		r.Off = append(r.Off, word)
		return nil
	}
}

func readCreated(d *caddyfile.Dispenser) (*resource.Created, error) {
	words := d.RemainingArgs()
	if len(words) == 0 || len(words) > 2 || words[0] != "201" {
		return nil, d.Err("created: expected 201, and perhaps a JSON Pointer of the new id such as /result/id, or off")
	}
	created := &resource.Created{Status: 201}
	if len(words) == 2 {
		created.ID = words[1]
	}
	return created, nil
}

func readDeleted(d *caddyfile.Dispenser) (int, error) {
	status, err := parse.Argument("204 or off")(d)
	if err == nil && status != "204" {
		err = d.Errf("deleted: unexpected '%s', expected 204 or off", status)
	}
	return 204, err
}

// readFailWhen reads a condition on the answers to all operations of a resource, or to those
// of one kind.
//
//	fail_when [list|read|create|replace|update|delete|action] ...
func readFailWhen(d *caddyfile.Dispenser) (rule resource.FailWhen, err error) {
	words, err := parse.LiteralArguments(apierrors.FailWhenForm)(d)
	if err != nil {
		return rule, err
	}
	if kind := resource.Kind(words[0]); slices.Contains(resource.AnsweredKinds, kind) {
		if rule.On, words = kind, words[1:]; len(words) == 0 {
			return rule, d.Errf("fail_when %s: expected %s", kind, apierrors.FailWhenForm)
		}
	} else if !strings.HasPrefix(words[0], "/") && words[0] != "" && words[0] != "header" && words[0] != "not_json" {
		return rule, d.Errf("fail_when: unexpected '%s', expected a JSON Pointer, header, not_json or one of: list, read, create, replace, update, delete, action", words[0])
	}
	rule.FailWhen, err = apierrors.FailWhen(d, words)
	return rule, err
}

// readFromXML reads what answers in XML look like.
func readFromXML(d *caddyfile.Dispenser) (*resource.FromXML, error) {
	const form = "xml, the outermost element, and perhaps list and the elements that are always lists, such as `from xml articles list article`"
	words, err := parse.LiteralArguments(form)(d)
	if err != nil {
		return nil, err
	}
	if len(words) < 2 || words[0] != "xml" || len(words) == 3 || len(words) > 2 && words[2] != "list" {
		return nil, d.Errf("from: expected %s", form)
	}
	x := &resource.FromXML{Root: words[1]}
	if len(words) > 2 {
		x.Lists = words[3:]
	}
	return x, nil
}

// readLinks returns the word for the relations of a resource.
func readLinks(to *[]link.Link) parse.Word {
	const form = "self, delete, or a name with a method and a path such as friends=GET:/students/{id}/friends"
	return parse.Each("relations: "+form, func(d *caddyfile.Dispenser, word, value string) error {
		name, target, leads := strings.Cut(value, "=")
		l := link.Link{Rel: name}
		if leads {
			method, path, ok := strings.Cut(target, ":")
			if !ok || name == "" || !slices.Contains(writtenMethods, method) || !strings.HasPrefix(path, "/") {
				return d.Errf("%s: unexpected '%s', expected a method and a path, such as friends=GET:/students/{id}/friends", word, value)
			}
			l.Method, l.Path = method, path
		} else if name != "self" && name != "delete" {
			return d.Errf("%s: unexpected '%s', expected %s", word, value, form)
		}
		*to = append(*to, l)
		return nil
	})
}

// writtenMethods are the methods that a line may name.
var writtenMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// What errors say is expected where header fields are named.
const (
	headerDownForm = "names of header fields such as X-WP-Total, X-WP-* or *"
	headerUpForm   = "Cookie"
)

// checkHeaders has a word of all resources read, and checks its names.
func (b *block) checkHeaders(read parse.Word) parse.Word {
	return func(d *caddyfile.Dispenser) error {
		line := d.Token()
		if err := read(d); err != nil {
			return err
		}
		if err := b.CheckHeaders(); err != nil {
			return parse.ErrorAt(line, err)
		}
		return nil
	}
}
