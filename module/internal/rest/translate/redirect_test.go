package translate

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
)

// Whoever follows a redirect reads what it leads to, or repeats the request.
func TestRedirectLeadsToWhereClientsMayFollow(t *testing.T) {
	locate := func(_ string, u Use) (string, bool) {
		return map[Use]string{Any: "/things/1/stop", Read: "/things/1", Repeat: "/things/2"}[u], true
	}
	for _, c := range []struct {
		method, target string
		status, want   int
		location       string
	}{
		{"GET", "/things/1", 301, 301, "/things/1"}, {"GET", "/things/1", 302, 302, "/things/1"}, {"GET", "/things/1", 303, 303, "/things/1"},
		{"GET", "/things/1", 307, 307, "/things/2"}, {"GET", "/things/1", 308, 308, "/things/2"}, {"GET", "/things/1", 300, 300, "/things/1"},
		{"POST", "/things", 301, 301, "/things/1"}, {"POST", "/things", 307, 307, "/things/2"},
		// Clients repeat a PUT or DELETE after a 301 or 302.
		{"PUT", "/things/1", 301, 301, "/things/2"}, {"PUT", "/things/1", 302, 303, "/things/1"}, {"PUT", "/things/1", 303, 303, "/things/1"},
		{"DELETE", "/things/1", 302, 303, "/things/1"}, {"DELETE", "/things/1", 308, 308, "/things/2"},
	} {
		g := through(Config{Answer: answerTo(t, things, c.method, c.target), Locate: locate}, c.status, map[string]string{"Location": "/x"}, "", 0)
		if g.failure != nil || g.Code != c.want || g.Header().Get("Location") != c.location {
			t.Errorf("%s %s, %d: %v %d %v", c.method, c.target, c.status, g.failure, g.Code, g.Header())
		}
	}
	g := through(Config{Answer: answer.NewPlain(nil), Locate: locate}, 302, map[string]string{"Location": "/x", "Content-Location": "/y"}, "", 0)
	if g.Code != 302 || g.Header().Get("Location") != "/things/1" || g.Header().Get("Content-Location") != "/things/1" {
		t.Errorf("undeclared: %d %v", g.Code, g.Header())
	}
	g = through(Config{Answer: answer.NewPlain(nil), Method: "DELETE", Locate: locate}, 302, map[string]string{"Location": "/x"}, "", 0)
	if g.Code != 303 || g.Header().Get("Location") != "/things/1" {
		t.Errorf("an undeclared DELETE: %d %v", g.Code, g.Header())
	}
	g = through(Config{Answer: answerTo(t, things, "PUT", "/things/1"), Locate: locate}, 204, map[string]string{"Location": "/x", "Content-Location": "/y"}, "", 0)
	if g.Header().Get("Location") != "/things/1/stop" || g.Header().Get("Content-Location") != "/things/1" {
		t.Errorf("no redirect: %d %v", g.Code, g.Header())
	}
}
