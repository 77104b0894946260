package handler

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// newRequest returns a request with the variables of Caddy.
func newRequest(vars map[string]any) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	return r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, vars))
}

func TestSubrequestHasItsOwnFacts(t *testing.T) {
	vars := make(map[string]any)
	r := newRequest(vars)
	SetEnvelope(r, new(envelope.Writer))
	SetRoute(r, "GET /a")
	own := maps.Clone(vars)
	CopyFacts(own)
	inner := newRequest(own)
	if Shaped(inner) || Route(inner) != "GET /a" {
		t.Errorf("answered by api_errors: %v, route %q", Shaped(inner), Route(inner))
	}
	SetRoute(inner, "GET /b")
	if !Shaped(r) || Route(r) != "GET /a" {
		t.Errorf("the outer request: answered by api_errors: %v, route %q", Shaped(r), Route(r))
	}
	none := map[string]any{"x": 1}
	if CopyFacts(none); len(none) != 1 {
		t.Error(none)
	}
}

func TestRequestWithoutVariablesKeepsNoFacts(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	SetRoute(r, "GET /a")
	if Route(r) != "" || Shaped(r) || Caller(r) != nil || noFacts != (facts{}) {
		t.Error(Route(r), Shaped(r), Caller(r))
	}
}

func TestTraceIsOmittedOnlyForUnloggedErrors(t *testing.T) {
	shaped := newRequest(make(map[string]any))
	SetEnvelope(shaped, new(envelope.Writer))
	for _, c := range []struct {
		r      *http.Request
		status int
		traced bool
	}{
		{shaped, http.StatusUnauthorized, false}, {shaped, http.StatusServiceUnavailable, true},
		{newRequest(make(map[string]any)), http.StatusUnauthorized, true},
	} {
		err := Error(c.r, c.status, &Failure{Code: "c", Message: "m"})
		he, ok := errors.AsType[caddyhttp.HandlerError](err)
		if !ok || he.StatusCode != c.status || Told(err).Code != "c" || (he.ID != "") != c.traced || (he.Trace != "") != c.traced {
			t.Errorf("%d: %#v, want a trace: %v", c.status, err, c.traced)
		}
	}
}
