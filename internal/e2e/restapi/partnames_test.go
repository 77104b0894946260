package restapi

import (
	"encoding/json"
	"fmt"
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

// What is in a member without a name is in brackets alone. Rack and qs, which Express uses, read [role] as role.
func TestFormHasNoMemberWithoutAName(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [
		{"path": "forms", "validate": [{"field": "role", "readonly": true}],
			"routes": [{"method": "POST", "path": "/forms", "upstream": "/forms.php", "as": "form"}, {"method": "PUT", "path": "/forms/{id}", "upstream": "/forms.php", "as": "multipart"},
				{"method": "PATCH", "path": "/forms/{id}", "upstream": "/forms.php", "as": "json"}]}]`)
	for _, body := range []string{`{"": {"role": "admin"}}`, `{"": {"access_token": "x"}}`, `{"": {"_method": "DELETE"}}`, `{"": ["x"]}`} {
		for _, at := range [][2]string{{"POST", "/forms"}, {"PUT", "/forms/1"}, {"PATCH", "/forms/1"}} {
			p := r.do("writer", at[0], at[1], body, "Content-Type", "application/json")
			refused := at[0] != "PATCH"
			if hits := len(u.Hits()); (p.Status == 400) != refused || (hits == 0) != refused {
				t.Errorf("%s %s: %d %s, %d arrived", at[0], body, p.Status, p.Body, hits)
			}
		}
	}
}

// A member whose name Spring or ASP.NET reads as another in a form would bypass what is declared for that one.
func TestFormHasNoOtherSpellingsOfDeclaredNames(t *testing.T) {
	u := harness.NewUpstream(t)
	r := start(t, u.Addr, `"upstream": $TO, "resources": [
		{"path": "forms", "rename": {"title": "subject"}, "validate": [{"field": "role", "readonly": true}, {"field": "/author/rank", "readonly": true}, {"field": "_id", "integer": true}],
			"routes": [{"method": "POST", "path": "/forms", "upstream": "/forms.php", "as": "form"}, {"method": "PUT", "path": "/forms/{id}", "upstream": "/forms.php", "as": "multipart"},
				{"method": "PATCH", "path": "/forms/{id}", "upstream": "/forms.php", "as": "json"}]}]`)
	const everywhere, inForms, nowhere = "in JSON too", "in forms", ""
	for name, disguised := range map[string]string{
		"!role": everywhere, "_role": everywhere, "!Role": everywhere, "!_role": everywhere, "role.x": everywhere, "!subject": inForms, "_title": inForms, "subject.x": inForms,
		"author.rank": everywhere, "_author.rank": everywhere, "!_id": everywhere, "_id.x": everywhere, "!other": nowhere, "other.role": everywhere, "other.x": nowhere, "_other": nowhere, "_id": nowhere, "a.b": nowhere,
	} {
		for _, at := range [][2]string{{"POST", "/forms"}, {"PUT", "/forms/1"}, {"PATCH", "/forms/1"}} {
			p := r.do("writer", at[0], at[1], fmt.Sprintf("{%q: 1}", name), "Content-Type", "application/json")
			refused := disguised == everywhere || disguised == inForms && at[0] != "PATCH"
			if hits := len(u.Hits()); (p.Status == 400) != refused || (hits == 0) != refused {
				t.Errorf("%s %s: %d %s, %d arrived", at[0], name, p.Status, p.Body, hits)
			}
		}
	}
}
