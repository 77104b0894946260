package routes

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// Locate finds the client's path for an upstream's address, without host, among the operations that fit. Of several with
// the same upstream, reading ones take precedence.
func (t *Table) Locate(path, query string, fits func(*Operation) bool) (string, bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false
	}
	t.indexed.Do(t.indexUpstreams)
	candidates := make(map[int]*Operation)
	for _, key := range pathpattern.AddressKeys(path, values) {
		maps.Copy(candidates, t.upstreams[key])
	}
	for _, at := range slices.Sorted(maps.Keys(candidates)) {
		o := candidates[at]
		if !fits(o) {
			continue
		}
		if found, ok := o.Requests.Unmap(path, values); ok {
			return o.pattern.Fill(found), true
		}
	}
	return "", false
}

// AnyOperation is for Locate.
func AnyOperation(*Operation) bool { return true }

// Reads reports whether an operation reads. It is for Locate.
func Reads(o *Operation) bool { return o.Method == http.MethodGet }

// Repeats returns a function for Locate that reports whether an operation does the same as a client's own request, of which
// own is the operation, or nil. A change must not become another one, though the upstream does both at one address.
func Repeats(own *Operation, method string) func(*Operation) bool {
	switch {
	case own != nil && own.Method != http.MethodGet:
		return func(o *Operation) bool { return o == own }
	case own != nil || method == http.MethodGet || method == http.MethodHead:
		return Reads
	}
	return func(*Operation) bool { return false } // no operation is known to do the same
}

// indexUpstreams indexes the operations by a key of their upstream's address, and numbers them in the order in
// which Locate prefers them.
func (t *Table) indexUpstreams() {
	t.upstreams = make(map[string]map[int]*Operation)
	for i, o := range t.operations {
		key, ok := o.Requests.AddressKey()
		if !ok {
			continue
		}
		if o.Method != http.MethodGet {
			i += len(t.operations)
		}
		if t.upstreams[key] == nil {
			t.upstreams[key] = make(map[int]*Operation)
		}
		t.upstreams[key][i] = o
	}
}
