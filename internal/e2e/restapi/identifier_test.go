package restapi

import (
	"strings"
	"testing"
)

// routed is in front of an upstream that routes by its query, as WordPress and MediaWiki do.
const routed = `"upstream": $TO, "openapi": {}, "resources": [
	{"path": "posts", "routes": [
		{"method": "GET", "path": "/posts/{id}", "upstream": "/index.php?rest_route=/wp/v2/posts/{id}"},
		{"method": "POST", "path": "/posts", "upstream": "/index.php?rest_route=/wp/v2/posts"},
		{"method": "PATCH", "path": "/posts/{id}", "upstream": "/index.php?rest_route=/wp/v2/posts/{id}"}]},
	{"path": "pages", "routes": [{"method": "GET", "path": "/pages/{title:[^|]+}", "upstream": "/api.php?titles={title}"}]},
	{"path": "plain"}]`

// R04: an id stays one id, whatever an upstream makes of its characters.
func TestIDReachesNoOtherRoute(t *testing.T) {
	u := newRecorded(t, says("application/json", `{"id":"7/autosaves"}`))
	r := start(t, u.Addr, routed)
	for _, path := range []string{
		"/posts/7%2Frevisions", "/posts/1%7C3", "/posts/1,3", "/posts/7%20x", "/posts/7%26a=b", "/posts/%C3%BC", "/plain/7%2Fcopies", "/plain/1%7C3", "/pages/1%7C3",
	} {
		wantError(t, r.do("reader", "GET", path, ""), 404, "not_found", "")
	}
	// These the guard refuses; without one it is no other route either.
	for _, path := range []string{"/posts/7%253F", "/posts/7%5Cx", "/posts/7%3Bx", "/posts/7;x", "/posts/7%0Ax"} {
		wantError(t, r.do("reader", "GET", path, ""), 400, "bad_request", "")
	}
	wantError(t, r.do("writer", "PATCH", "/posts/7%2Fautosaves", `{"a":1}`), 404, "not_found", "")
	wantError(t, r.do("writer", "PATCH", "/posts", `[{"id":"7/autosaves","op":"replace","path":"/a","value":1}]`), 400, "invalid_parameter", "/0/id")
	if n := len(u.Hits()); n != 0 {
		t.Fatalf("%d requests reached the upstream", n)
	}
	u.bodies = nil
	for path, want := range map[string]string{
		"/posts/7":            "/index.php?rest_route=/wp/v2/posts/7",
		"/posts/a-b_c.d~e:@1": "/index.php?rest_route=/wp/v2/posts/a-b_c.d~e%3A%401",
		"/plain/a:b@c":        "/plain/a:b@c",
		"/pages/Talk%3AM%C3%BCller%2F1%2C2%20%26%20%25": "/api.php?titles=Talk%3AM%C3%BCller%2F1%2C2%20%26%20%25",
	} {
		r.do("reader", "GET", path, "")
		if got, _ := u.last(t); got.URL.RequestURI() != want {
			t.Errorf("%s: %s, want %s", path, got.URL.RequestURI(), want)
		}
	}
	// What the upstream calls an id is not made an address either.
	if p := r.do("writer", "POST", "/posts", `{"a":1}`); p.Status != 201 || p.Header.Get("Location") != "" {
		t.Errorf("%d %v", p.Status, p.Header)
	}
	doc := r.do("reader", "GET", "/openapi.json", "").Body
	if !strings.Contains(doc, `"^(?:[^|]+)$"`) || !strings.Contains(doc, `"^(?:[A-Za-z0-9._~:@-]+)$"`) || strings.Contains(doc, "/pages/{title:") {
		t.Errorf("the description of the API has no expressions, or has them in its paths: %s", doc)
	}
}
