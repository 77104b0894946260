package restapi

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// A member whose name some API reads as another in a multipart form would bypass what is declared for that one.
func TestMultipartFormHasNoNamesThatAreReadAsOthers(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [
		{"path": "parts", "validate": [{"field": "role", "readonly": true}], "routes": [{"method": "POST", "path": "/parts", "upstream": "/parts.php", "as": "multipart"}]},
		{"path": "forms", "routes": [{"method": "POST", "path": "/forms", "upstream": "/forms.php", "as": "form"}]}]`)
	for _, c := range []struct {
		path, name string
		status     int
	}{
		{"/parts", "role", 400},
		{"/parts", "x; name=role", 400}, // Rack 2.2
		{"/parts", "x;name=role", 400},
		{"/parts", "=?utf-8?Q?role?=", 400}, // Tomcat 10
		{"/parts", "role ", 400},            // Tomcat and Django 3.2
		{"/parts", "access_token ", 400},
		{"/parts", "_method ", 400},
		{"/parts", "a = b: c?", 201},
		{"/forms", "x; name=role", 201}, // encoded, it cannot be read as another
	} {
		for _, member := range []any{"x", map[string]any{c.name: "x"}} {
			name := c.name
			if c.name != "role" && member != "x" {
				name = "outer"
			}
			body, err := json.Marshal(map[string]any{name: member})
			if err != nil {
				t.Fatal(err)
			}
			p := r.do("writer", http.MethodPost, c.path, string(body), "Content-Type", "application/json")
			if hits := len(u.Hits()); p.Status != c.status || (hits == 0) != (c.status == 400) {
				t.Errorf("%s %s: %d %s, %d arrived", c.path, body, p.Status, p.Body, hits)
			}
		}
	}
}
