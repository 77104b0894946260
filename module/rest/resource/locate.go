package resource

import (
	"net/http"
	"net/url"
)

// Locate finds the client's path for an upstream's address, without host. Among several
// operations with the same upstream, reading ones take precedence.
func (t *Table) Locate(path, query string) (string, bool) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false
	}
	for _, reading := range []bool{true, false} {
		for _, o := range t.operations {
			if o.template == nil || o.call != nil || (o.Method == http.MethodGet) != reading {
				continue
			}
			if found, ok := o.template.Unfill(path, values, o.shape.decodeValue); ok && o.pattern.Accepts(found) {
				return o.pattern.Fill(found), true
			}
		}
	}
	return "", false
}
