package authserver_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOverloadRefusalUsesItsEndpointsFormat(t *testing.T) { // N10
	s := newTokenRig(t).server
	for path, want := range map[string]struct{ kind, holds string }{
		"/auth/token":                                {"application/json; charset=utf-8", `{"error":"temporarily_unavailable",`},
		"/auth/device_authorization":                 {"application/json; charset=utf-8", `{"error":"temporarily_unavailable",`},
		"/auth/.well-known/jwks.json":                {"application/json; charset=utf-8", `{"error":"temporarily_unavailable",`},
		"/auth/sns/oauth2/access_token":              {"application/json", `"errcode":-1`},
		"/auth/authorize":                            {"text/html; charset=utf-8", `<html lang="zh-Hans"`},
		"/auth/nothing":                              {"text/html; charset=utf-8", `<html lang="zh-Hans"`},
		"/.well-known/oauth-authorization-server/au": {"text/html; charset=utf-8", `<html lang="zh-Hans"`},
	} {
		for range 2 { // what was prepared is not used up
			r, w := httptest.NewRequest(http.MethodPost, path, strings.NewReader("a=b")), httptest.NewRecorder()
			r.Header.Set("Accept-Language", "zh")
			s.Overloaded(w, r, 7)
			h := w.Header()
			if w.Code != http.StatusServiceUnavailable || h.Get("Retry-After") != "7" || h.Get("Cache-Control") != "no-store" ||
				h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Type") != want.kind || !strings.Contains(w.Body.String(), want.holds) {
				t.Errorf("%s: %d %v %.200s", path, w.Code, h, w.Body)
			}
			if page := want.kind[:5] == "text/"; page != (h.Get("Content-Security-Policy") != "") {
				t.Errorf("%s: %v", path, h)
			}
		}
	}
	r, w := httptest.NewRequest(http.MethodOptions, "/auth/token", nil), httptest.NewRecorder()
	s.Overloaded(w, r, 7)
	if w.Code != http.StatusNoContent {
		t.Errorf("a preflight costs nothing: %d", w.Code)
	}
}

func TestShowsCredentials(t *testing.T) { // N10
	s := newTokenRig(t).server
	for path, want := range map[string]struct{ without, with bool }{
		"/auth/token": {true, true}, "/auth/introspect": {true, true}, "/auth/sns/auth": {true, true}, "/auth/.well-known/jwks.json": {true, true},
		"/auth/device_authorization": {false, true},
		"/auth/authorize":            {false, false}, "/auth/login": {false, false}, "/auth/nothing": {false, false},
	} {
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.Header.Set("Cookie", "__Host-gatehouse=x")
		without := s.ShowsCredentials(r)
		r.Header.Set("Authorization", "Basic x")
		if with := s.ShowsCredentials(r); with != want.with || without != want.without || s.AlwaysAdmitted(r) {
			t.Errorf("%s: %v without, %v with", path, without, with)
		}
	}
	if !s.AlwaysAdmitted(httptest.NewRequest(http.MethodGet, "/auth/connect/l/qrconnect?uuid=x", nil)) {
		t.Error("a poll may be refused")
	}
}
