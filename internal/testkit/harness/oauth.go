package harness

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Verifier is a PKCE code verifier for tests, Challenge its S256 challenge.
const Verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

// Challenge is the S256 challenge of a verifier.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Credentials authenticate a client at the token endpoint.
type Credentials struct{ ID, Secret string }

// Token posts to the token endpoint, with HTTP Basic if the client has a secret, otherwise with client_id alone.
func (g *Gateway) Token(t testing.TB, c Credentials, form url.Values) Page {
	t.Helper()
	values := url.Values{}
	for k, v := range form {
		values[k] = v
	}
	if c.Secret == "" && c.ID != "" {
		values.Set("client_id", c.ID)
	}
	r, err := http.NewRequest(http.MethodPost, g.ID+"/token", strings.NewReader(values.Encode()))
	FailOn(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.Secret != "" {
		r.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret))
	}
	return Do(t, http.DefaultClient, r)
}

// Call requests a path of the guarded site, with a bearer token unless it is "".
func (g *Gateway) Call(t testing.TB, method, path, token string) Page {
	t.Helper()
	r, err := http.NewRequest(method, g.API+path, nil)
	FailOn(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return Do(t, NewBrowser(t, "").Client, r)
}
