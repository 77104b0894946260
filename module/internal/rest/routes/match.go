package routes

import (
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/mapping"
	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Match is the operation that a request asks for.
type Match struct {
	// Operation is nil for an OPTIONS request, which Allow answers.
	Operation *Operation
	Allow     string
	// Values are the decoded values of the path's placeholders.
	Values []string
	// Head: the answer's body is not sent.
	Head bool
}

// Match finds the operation of a request; path is escaped and without a version.
// A refusal is 404 or 405. declared reports whether the path belongs to a resource. It is also true
// for a path that no upstream should see, so that no other handler passes it on.
func (t *Table) Match(method, path string) (m Match, declared bool, refused *envelope.Refusal) {
	segments, safe := pathpattern.Split(path)
	if segments == nil {
		return m, !safe, envelope.Refuse(http.StatusNotFound, "")
	}
	at := t.root.find(segments)
	if at == nil {
		return m, false, envelope.Refuse(http.StatusNotFound, "")
	}
	m.Allow = at.allow
	if method == http.MethodOptions {
		return m, true, nil
	}
	if method == http.MethodHead {
		m.Head, method = true, http.MethodGet
	}
	m.Operation = at.operations[method]
	if m.Operation == nil {
		return m, true, &envelope.Refusal{Status: http.StatusMethodNotAllowed, Header: http.Header{"Allow": {m.Allow}}}
	}
	for i, s := range m.Operation.pattern.Segments {
		if s.Param {
			m.Values = append(m.Values, segments[i])
		}
	}
	if !m.Operation.pattern.Accepts(m.Values) {
		return Match{}, true, envelope.Refuse(http.StatusNotFound, "")
	}
	return m, true, nil
}

// Item returns the operation of a batch on one resource, whose id is decoded. It reports false for an id
// that no path accepts.
func (m Match) Item(id string) (Match, bool) {
	o := m.Operation.Item
	if o == nil || !pathpattern.IsSafe(id) {
		return Match{}, false
	}
	values := append(slices.Clone(m.Values), id)
	return Match{Operation: o, Values: values}, o.pattern.Accepts(values)
}

// Address returns the client's path of the request, escaped and without a version.
func (m Match) Address() string { return m.Operation.pattern.Fill(m.Values) }

// Request maps the request to one for the upstream, or refuses it.
func (m Match) Request(a mapping.Asked) (mapping.Upstream, *envelope.Refusal) {
	return m.Operation.Requests.Request(m.Values, a)
}

// Answer returns what becomes of the successful answer to a request.
func (m Match) Answer(up mapping.Upstream, c answer.Caller) *answer.Answer {
	o := m.Operation
	return o.Answers.New(answer.Request{
		Values: m.Values, ReadByPost: o.Requests.ReadsByPost(), List: up.List, Sealer: up.Sealer, Bound: up.Bound,
	}, c)
}
