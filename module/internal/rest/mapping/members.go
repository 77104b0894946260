package mapping

import (
	"encoding/json"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// members are the members of a body, by the upstream's names.
type members validate.Object

// each yields the names and values.
func (m members) each(yield func(string, json.RawMessage) bool) {
	for _, member := range m {
		if !yield(member.Name, member.Value) {
			return
		}
	}
}

func (m members) json() []byte {
	b := []byte{'{'}
	for i, member := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, splice.Quote(member.Name)...), ':')
		b = append(b, member.Value...)
	}
	return append(b, '}')
}

// wrapped returns the members as the content of one with this name, or unchanged for "".
func (m members) wrapped(name string) members {
	if name == "" {
		return m
	}
	return members{{Name: name, Value: m.json()}}
}

// passesToken reports whether a form would have an access_token from a member that the client calls so. A
// configuration may give that name to another member.
func (m members) passesToken(object validate.Object) bool {
	return slices.ContainsFunc(m, func(member validate.Member) bool {
		return fieldnames.Normalize(member.Name) == "access_token" && object.Get(member.Name) != nil
	})
}

// checkAgainstQuery refuses members that would replace a parameter of the upstream's address: upstreams that read both
// as one (PHP's $_REQUEST) mostly prefer the body. Equal values are allowed: clients send back the id they were given.
func (m members) checkAgainstQuery(object validate.Object, rawQuery string) *envelope.Refusal {
	if rawQuery == "" {
		return nil
	}
	query, _ := url.ParseQuery(rawQuery) // the template has checked it
	given := make(map[string][2]string, len(query))
	for name, values := range query {
		given[fieldnames.Normalize(name)] = [2]string{name, values[0]}
	}
	for i, member := range m {
		if p, ok := given[fieldnames.Normalize(member.Name)]; ok && (member.Name != p[0] || scalarText(member.Value) != p[1]) {
			return envelope.Invalid(object[i].Name, "is given by the address already")
		}
	}
	return nil
}

func scalarText(value json.RawMessage) string {
	if value[0] != '"' {
		return string(value)
	}
	var text string
	_ = json.Unmarshal(value, &text) // it was parsed before
	return text
}
