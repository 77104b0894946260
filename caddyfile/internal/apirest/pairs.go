package apirest

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// cutPair cuts a value such as <ours>=<theirs>. Where alone is true, one without = is both.
func cutPair(d *caddyfile.Dispenser, word, value, form string, alone bool) (pair list.Name, err error) {
	ours, theirs, both := strings.Cut(value, "=")
	if ours == "" || both && theirs == "" || !both && !alone {
		return pair, d.Errf("%s: unexpected '%s', expected %s", word, value, form)
	}
	if theirs == ours {
		theirs = ""
	}
	return list.Name{Name: ours, Upstream: theirs}, nil
}

// readNames reads our names and the upstream's.
func readNames(to *[]list.Name, form string) parse.Word {
	return parse.Each(form, func(d *caddyfile.Dispenser, word, value string) error {
		n, err := cutPair(d, word, value, form, true)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(*to, func(other list.Name) bool { return other.Name == n.Name }) {
			return d.Errf("%s: %s is given twice", word, n.Name)
		}
		*to = append(*to, n)
		return nil
	})
}

// readRename reads the API's names of members. A name is used in answers and bodies, a pointer
// in answers; a member may have both.
func readRename(r *resource.Resource) parse.Word {
	const form = "our name and the upstream's, such as title=subject, or a pointer into its answers, such as title=/title/rendered"
	return parse.Each(form, func(d *caddyfile.Dispenser, word, value string) error {
		p, err := cutPair(d, word, value, form, false)
		if err != nil {
			return err
		}
		to := &r.Rename
		if strings.HasPrefix(p.Their(), "/") {
			to = &r.Lift
		}
		if _, ok := (*to)[p.Name]; ok {
			return d.Errf("%s: %s is given twice", word, p.Name)
		}
		if *to == nil {
			*to = make(map[string]string)
		}
		(*to)[p.Name] = p.Their()
		return nil
	})
}

// readValues reads the words that a field may have.
func readValues(d *caddyfile.Dispenser, r *resource.Resource) error {
	const (
		form      = "a field and its words, such as `values state published=1 draft=0`"
		wordsForm = "words such as draft, or draft=0 where the upstream has another value"
	)
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
		return d.Errf("values %s: expected %s", field, wordsForm)
	}
	words := make(map[string]string)
	for d.NextArg() {
		p, err := cutPair(d, "values "+field, parse.UndoShorthands(d.Val()), wordsForm, true)
		if err != nil {
			return err
		}
		if _, ok := words[p.Name]; ok {
			return d.Errf("values %s: %s is given twice", field, p.Name)
		}
		words[p.Name] = p.Their()
	}
	if r.Values == nil {
		r.Values = make(map[string]map[string]string)
	}
	r.Values[field] = words
	return nil
}
