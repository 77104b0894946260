package resource

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// itemKinds are the operations whose answers have a resource.
var itemKinds = []Kind{Read, Create, Replace, Update, Action}

// itemOf is the pointer of the resource in answers to a kind of operation.
func (r *Resource) itemOf(k Kind) string {
	if at, ok := r.ItemOf[k]; ok {
		return at
	}
	return r.Item
}

// ItemPointer is where the resource is looked for in an answer to the operation.
func (o *Operation) ItemPointer() string { return o.Resource.itemOf(o.Kind) }

// Wanted says what is looked for in the answer, for the log; "" where nothing is.
func (a *Answer) Wanted() string {
	if a.match.Operation == nil {
		return ""
	}
	return a.match.Operation.ItemPointer()
}

// Writes reports whether the upstream has changed something once it answers with success.
// What of the answer is not as declared then does not undo that.
func (a *Answer) Writes() bool {
	return a.match.Operation != nil && a.match.Operation.Method != http.MethodGet
}

// Item is what a batch does to one resource, whose id is decoded. It reports false for an
// id with which no path could be asked for.
func (m Match) Item(id string) (Match, bool) {
	o := m.Operation.Item
	if o == nil || !pathpattern.IsSafe(id) {
		return Match{}, false
	}
	values := append(slices.Clone(m.Values), id)
	return Match{Operation: o, Values: values}, o.pattern.Accepts(values)
}

// Address is the client's path of the request, escaped and without a version.
func (m Match) Address() string { return m.Operation.pattern.Fill(m.Values) }

// Accepts looks at the type of the body of an operation that reads it.
func (m Match) Accepts(h http.Header) *envelope.Refusal { return m.Operation.accepts(h) }
