package gateway

import (
	"net/http"
	"net/url"
	"testing"
)

// S03: errors of the OAuth endpoints say which parameter is wrong, null for none in particular.
func TestOAuthErrorNamesItsField(t *testing.T) {
	g, _ := start(t)
	for _, c := range []struct {
		form   url.Values
		status int
		code   string
		field  any
	}{
		{url.Values{"code": {"x"}}, http.StatusBadRequest, "invalid_request", "grant_type"},
		{url.Values{"grant_type": {"magic"}}, http.StatusBadRequest, "unsupported_grant_type", "grant_type"},
		{url.Values{"grant_type": {"refresh_token"}}, http.StatusBadRequest, "invalid_request", "refresh_token"},
		{url.Values{"grant_type": {"authorization_code"}}, http.StatusBadRequest, "invalid_request", "code"},
		{url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}, http.StatusBadRequest, "invalid_grant", nil},
	} {
		p := g.Token(t, web, c.form)
		wantOAuth(t, p, c.status, c.code)
		if field, there := p.JSON(t)["field"]; !there || field != c.field {
			t.Errorf("%v: %s, want the field %v", c.form, p.Body, c.field)
		}
	}
	for _, c := range []struct{ name, value, code string }{{"scope", "nonesuch", "invalid_scope"}, {"resource", "https://x.example", "invalid_target"}} {
		p := g.Token(t, machine, with(credentialsForm, c.name, c.value))
		wantOAuth(t, p, http.StatusBadRequest, c.code)
		if p.JSON(t)["field"] != c.name {
			t.Errorf("%s: %s", c.name, p.Body)
		}
	}
}
