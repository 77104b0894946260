package batch

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Answer is what a batch is answered with.
type Answer struct {
	items   []Item
	results []Result // for each item
}

// NewAnswer tells of each item what came of its group.
func NewAnswer(items []Item, groups []Group, results []Result) *Answer {
	a := &Answer{items: items, results: make([]Result, len(items))}
	for n, g := range groups {
		for _, i := range g.Items {
			a.results[i] = results[n]
		}
	}
	return a
}

// Status is 200 if every item succeeded, else 207.
func (a *Answer) Status() int {
	if slices.ContainsFunc(a.results, func(r Result) bool { return !r.succeeded() }) {
		return http.StatusMultiStatus
	}
	return http.StatusOK
}

func (r Result) succeeded() bool { return r.Status >= 200 && r.Status < 300 }

// Write writes the body.
func (a *Answer) Write(w io.Writer) error {
	b := bufio.NewWriter(w) // keeps the first error, and tells it at the end
	_, _ = b.WriteString(`{"data":[`)
	for i, r := range a.results {
		if i > 0 {
			_ = b.WriteByte(',')
		}
		_, _ = b.WriteString(`{"id":`)
		_, _ = b.Write(a.items[i].Sent)
		status := r.Status
		if status == 0 {
			status = http.StatusFailedDependency
		}
		_, _ = b.WriteString(`,"status":` + strconv.Itoa(status))
		name, body := r.member()
		_, _ = b.WriteString(`,"` + name + `":`)
		_, _ = b.Write(body)
		_ = b.WriteByte('}')
	}
	_, _ = b.WriteString("]}")
	return b.Flush()
}

// member is data or error.
func (r Result) member() (name string, body []byte) {
	switch {
	case r.Status == 0:
		return "error", encoded(envelope.Error{Code: "not_tried", Message: "this item was not tried"})
	case r.succeeded() && json.Valid(r.Body):
		return "data", r.Body
	case r.succeeded():
		return "data", []byte("null")
	}
	var shaped struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(r.Body, &shaped) == nil && len(shaped.Error) > 0 && shaped.Error[0] == '{' {
		return "error", shaped.Error
	}
	entry := envelope.Lookup(r.Status)
	return "error", encoded(envelope.Error{Code: entry.Code, Message: entry.Message})
}

func encoded(e envelope.Error) []byte {
	body, _ := json.Marshal(e) // strings always marshal
	return body
}
