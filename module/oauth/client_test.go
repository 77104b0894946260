package oauth

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"
)

func TestClientMatchesOnlyItsRedirectURIs(t *testing.T) {
	c := &Client{ID: "c", RedirectURIs: []string{"https://a.example/cb", "https://b.example/cb"}}
	for uri, want := range map[string]bool{
		"https://a.example/cb": true, "https://b.example/cb": true, "https://c.example/cb": false,
		"": false, "https://a.example/cb https://b.example/cb": false,
	} {
		if c.MatchesRedirect(uri) != want {
			t.Errorf("%q: %v", uri, !want)
		}
	}
	if (&Client{}).MatchesRedirect("") {
		t.Error("a client without addresses matched none")
	}
}

func TestConsentIsNotRememberedForSpoofableClients(t *testing.T) { // RFC 8252 section 8.6
	for _, c := range []struct {
		public bool
		uri    string
		want   bool
	}{
		{false, "https://a.example/cb", true}, {false, "http://127.0.0.1/cb", true}, {true, "https://a.example/cb", true},
		{true, "http://127.0.0.1:9/cb", false}, {true, "http://[::1]/cb", false}, {true, "com.example.app:/cb", false},
	} {
		if got := (&Client{Public: c.public}).RemembersConsent(c.uri); got != c.want {
			t.Errorf("public %v, %s: %v", c.public, c.uri, got)
		}
	}
}

func TestRequestedScopes(t *testing.T) { // A23
	c := &Client{Scopes: []string{"read", "write", "openid"}, DefaultScopes: []string{"read"}}
	for in, want := range map[string][]string{
		"": {"read"}, "  ": {"read"}, "write": {"write"}, "write read": {"write", "read"}, "openid": {"openid"},
	} {
		got, err := c.GrantableScopes(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"admin", "read admin", "Read", "rea", "read:all", `re"ad`, `re\ad`, "re\x01ad", "read,write"} {
		if got, err := c.GrantableScopes(in); !hasCode(err, InvalidScope) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if _, err := (&Client{Scopes: []string{"read"}}).GrantableScopes(""); !hasCode(err, InvalidScope) {
		t.Errorf("no scope and no default: %v", err)
	}
	got, err := c.GrantableScopes("")
	if err != nil {
		t.Fatal(err)
	}
	got[0] = "changed"
	if c.DefaultScopes[0] != "read" {
		t.Error("the caller can change the client")
	}
}

func TestTitleFallsBackToTheID(t *testing.T) {
	if (&Client{ID: "c"}).Title() != "c" || (&Client{ID: "c", Name: "C"}).Title() != "C" {
		t.Error("title")
	}
}

func TestOriginsAllowedToReadTokenAnswers(t *testing.T) { // T19
	uris := []string{"https://a.example/cb", "https://a.example/cb2", "http://127.0.0.1:3000/cb", "com.example.app:/cb"}
	public := &Client{Public: true, RedirectURIs: uris, Origins: []string{"https://b.example"}}
	if got := public.CORSOrigins(); !slices.Equal(got, []string{"http://127.0.0.1:3000", "https://a.example", "https://b.example"}) {
		t.Errorf("%q", got)
	}
	spelled := &Client{Public: true, RedirectURIs: []string{"https://App.example:443/cb", "http://LOCALHOST:80/cb", "https://b.example:8443/cb"}}
	if got := spelled.CORSOrigins(); !slices.Equal(got, []string{"http://localhost", "https://app.example", "https://b.example:8443"}) {
		t.Errorf("browsers write it in another way: %q", got)
	}
	if got := (&Client{RedirectURIs: uris}).CORSOrigins(); len(got) != 0 {
		t.Errorf("a confidential client: %q", got)
	}
}

func TestErrorsHaveTheirStatusAndAreCopiedOnChange(t *testing.T) {
	for code, status := range map[Code]int{
		InvalidRequest: 400, InvalidGrant: 400, InvalidScope: 400, UnauthorizedClient: 400, InvalidTarget: 400,
		InvalidClient: 401, InvalidToken: 401, InsufficientScope: 403, SlowDown: 429, ServerError: 500, TemporarilyUnavailable: 503,
	} {
		if got := E(code, "").Status; got != status {
			t.Errorf("%s: %d", code, got)
		}
	}
	e, cause := E(InvalidGrant, "text"), errors.New("cause")
	if c := e.WithStatus(http.StatusTeapot).WithCause(cause); c.Status != http.StatusTeapot || !errors.Is(c, cause) {
		t.Errorf("%+v", c)
	}
	if e.Status != 400 || e.Cause != nil {
		t.Errorf("the original changed: %+v", e)
	}
	if u := Unavailable(cause); u.Status != 503 || u.RetryAfter < 1 || !errors.Is(u, cause) || u.Description == "" {
		t.Errorf("%+v", u)
	}
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]int{
		-time.Second: 1, 0: 1, 1: 1, time.Second: 1, time.Second + 1: 2, 1500 * time.Millisecond: 2, time.Minute: 60,
	} {
		e := TooMany("later", d)
		if e.Code != SlowDown || e.Status != 429 || e.Description != "later" || e.RetryAfter != want {
			t.Errorf("%v: %+v, want %d s", d, e, want)
		}
	}
}

func hasCode(err error, code Code) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Code == code
}
