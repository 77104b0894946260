package apirest

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// readPairs reads words such as <ours>=<theirs>. Where alone is true, a word without = is both.
func readPairs(d *caddyfile.Dispenser, form string, alone bool) (found []list.Name, err error) {
	word := d.Val()
	values, err := parse.LiteralArguments(form)(d)
	for _, v := range values {
		pair, err := cutPair(d, word, v, form, alone)
		if err != nil {
			return nil, err
		}
		found = append(found, pair)
	}
	return found, err
}

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
	return func(d *caddyfile.Dispenser) error {
		word := d.Val()
		pairs, err := readPairs(d, form, true)
		for _, n := range pairs {
			if slices.ContainsFunc(*to, func(other list.Name) bool { return other.Name == n.Name }) {
				return d.Errf("%s: %s is given twice", word, n.Name)
			}
			*to = append(*to, n)
		}
		return err
	}
}

// readRename reads the API's names of members. A name is used in answers and bodies, a pointer
// in answers; a member may have both.
func readRename(d *caddyfile.Dispenser, r *resource.Resource) error {
	found, err := readPairs(d, "our name and the upstream's, such as title=subject, or a pointer into its answers, such as title=/title/rendered", false)
	for _, p := range found {
		to := &r.Rename
		if strings.HasPrefix(p.Their(), "/") {
			to = &r.Lift
		}
		if _, ok := (*to)[p.Name]; ok {
			return d.Errf("rename: %s is given twice", p.Name)
		}
		if *to == nil {
			*to = make(map[string]string)
		}
		(*to)[p.Name] = p.Their()
	}
	return err
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
