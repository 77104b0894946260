package mapping

import (
	"encoding/json"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/fieldnames"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// members are the members of a body, by the upstream's names.
type members validate.Object

func (m members) json() []byte {
	b := []byte{'{'}
	for i, member := range m {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, fieldnames.Quote(member.Name)...)
		b = append(b, ':')
		b = append(b, member.Value...)
	}
	return append(b, '}')
}

// wrapped returns the members as the content of a single one with this name, unchanged for "".
func (m members) wrapped(name string) members {
	if name == "" {
		return m
	}
	return members{{Name: name, Value: m.json()}}
}

// passesToken reports whether a member that the client calls access_token would have that name in a form
// too. A configuration may give that name to another member.
func (m members) passesToken(object validate.Object) bool {
	return slices.ContainsFunc(m, func(member validate.Member) bool {
		return fieldnames.Normalize(member.Name) == "access_token" && object.Get(member.Name) != nil
	})
}

// checkAgainstQuery refuses members that would replace a parameter of the upstream's address: where
// upstreams read both as one (PHP's $_REQUEST), the body's mostly wins. Equal values do no harm: clients
// send back the id that they were given.
func (m members) checkAgainstQuery(object validate.Object, rawQuery string) *envelope.Refusal {
	if rawQuery == "" {
		return nil
	}
	query, _ := url.ParseQuery(rawQuery) // the template's was read before
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

// scalarText returns the text of a scalar.
func scalarText(value json.RawMessage) string {
	if value[0] != '"' {
		return string(value)
	}
	var text string
	_ = json.Unmarshal(value, &text) // it was parsed before
	return text
}
