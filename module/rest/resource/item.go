package resource

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Item is what a batch does to one resource, whose id is decoded. It reports false for an
// id with which no path could be asked for.
func (m Match) Item(id string) (Match, bool) {
	o := m.Operation.Item
	if o == nil || !proper(id) {
		return Match{}, false
	}
	return Match{Operation: o, Values: append(slices.Clone(m.Values), id)}, true
}

// Address is the client's path of the request, escaped and without a version.
func (m Match) Address() string { return m.Operation.pattern.fill(m.Values) }

// Accepts looks at the type of the body of an operation that reads it.
func (m Match) Accepts(h http.Header) *envelope.Refusal { return m.Operation.accepts(h) }
