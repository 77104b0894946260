package admin

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A secret in the address, where logs see it, must not pass for one that was given. The calls
// have nothing to administer: the parameters are checked before any handler is called.
func TestEveryRouteRefusesUnknownParameters(t *testing.T) {
	for _, rt := range routes {
		c := &call{
			Config: new(Config), w: httptest.NewRecorder(), names: []string{"a", "b"},
			r: httptest.NewRequest(rt.method, "/gatehouse/?secret=x", nil),
		}
		_, err := c.serve(&rt)
		var refused *refusal
		if !errors.As(err, &refused) || refused.status != http.StatusBadRequest || refused.told.Field != "secret" {
			t.Errorf("%s %s: %v", rt.method, rt.path, err)
		}
	}
}

func TestAdminPathAllowsOnlyItsMethods(t *testing.T) {
	for _, c := range []struct{ method, path, route, methods string }{
		{"DELETE", "/gatehouse/keys/k1", "keys/*", "DELETE"},
		{"DELETE", "/gatehouse/keys/rotate", "", "POST"},
		{"POST", "/gatehouse/keys/rotate", "keys/rotate", "POST"},
		{"PUT", "/gatehouse/users/u1", "", "DELETE GET PATCH"},
		{"GET", "/gatehouse/users/", "", ""},
	} {
		rt, _, methods := findRoute(c.method, c.path)
		got := ""
		if rt != nil {
			got = rt.path
		}
		if got != c.route || strings.Join(methods, " ") != c.methods {
			t.Errorf("%s %s: route %q, methods %v", c.method, c.path, got, methods)
		}
	}
}
