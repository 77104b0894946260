package resource

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// alike is under which name an upstream may file a parameter: PHP takes spaces in front
// away and makes underscores of those within and of dots, and many programs (of .NET, Go
// and databases) do not tell capitals from small letters.
func alike(name string) string {
	name = strings.TrimLeft(name, " ")
	name = strings.Map(func(c rune) rune {
		if c == ' ' || c == '.' {
			return '_'
		}
		return unicode.ToLower(unicode.ToUpper(c)) // also of signs that have several small forms
	}, name)
	return name
}

const noField = "is not a field of this resource"

// know notes the names that something is said of. A body must not say them in another
// way: it would pass by what is said, and stand beside what has passed.
func (s *shape) know() {
	s.known = make(map[string][]string)
	note := func(names ...string) {
		for _, name := range names {
			at := alike(name)
			s.known[at] = append(s.known[at], name)
		}
	}
	note(methodMember)
	for ours, theirs := range s.config.Rename {
		note(ours, theirs)
	}
	for ours := range s.config.Lift {
		note(ours)
	}
	for theirs := range s.places.names {
		note(theirs)
	}
	for field := range s.config.Values {
		note(field, s.config.their(field))
	}
	for _, r := range s.config.Validate {
		field := r.Field
		if strings.HasPrefix(field, "/") {
			field, _, _ = strings.Cut(field[1:], "/")
			field = strings.NewReplacer("~1", "/", "~0", "~").Replace(field)
		}
		note(field, s.config.their(field))
	}
	note(s.config.Replace...)
	note(s.config.Batch...)
}

// disguised reports a name that means something only in another spelling.
func (s *shape) disguised(name string) bool {
	exact := s.known[alike(name)]
	return len(exact) > 0 && !slices.Contains(exact, name)
}

// aside refuses members that would take the place of a parameter of the upstream's
// address: where both are read as one ($_REQUEST of PHP), the body's is mostly believed. What
// says the same is no harm: clients send back the id that they were given.
func (m members) aside(object validate.Object, rawQuery string) *envelope.Refusal {
	if rawQuery == "" {
		return nil
	}
	query, _ := url.ParseQuery(rawQuery) // the template's was read before
	said := make(map[string][2]string, len(query))
	for name, values := range query {
		said[alike(name)] = [2]string{name, values[0]}
	}
	for i, member := range m {
		if p, ok := said[alike(member.Name)]; ok && (member.Name != p[0] || plain(member.Value) != p[1]) {
			return envelope.Invalid(object[i].Name, "is given by the address already")
		}
	}
	return nil
}

// plain is a scalar's text.
func plain(value json.RawMessage) string {
	if value[0] != '"' {
		return string(value)
	}
	var text string
	_ = json.Unmarshal(value, &text) // it was parsed before
	return text
}

// unfit reports a name that would be another one in a form: brackets begin what is nested,
// and some programs end a text at a NUL.
func unfit(name string) bool {
	return strings.ContainsAny(name, "[]") || strings.ContainsFunc(name, unicode.IsControl)
}
