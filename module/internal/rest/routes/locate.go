package routes

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// Locate finds the client's path for an upstream's address, without host. Among several operations with
// the same upstream, reading ones take precedence.
func (t *Table) Locate(path, query string) (string, bool) {
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
		if found, ok := o.Requests.Unmap(path, values); ok {
			return o.pattern.Fill(found), true
		}
	}
	return "", false
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
