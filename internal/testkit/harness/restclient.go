package harness

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// RESTClient calls a guarded API with JSON bodies and one client's token.
type RESTClient struct {
	// API is the address of the guarded site, without a trailing slash.
	API string
	// Token is sent as a bearer token unless it is "".
	Token string
}

// NewRESTClient gets a token with client credentials.
func NewRESTClient(t testing.TB, issuer, api string, c Credentials) RESTClient {
	t.Helper()
	g := &Gateway{ID: issuer}
	token, _ := g.Token(t, c, url.Values{"grant_type": {"client_credentials"}}).JSON(t)["access_token"].(string)
	if token == "" {
		t.Fatalf("no token for %s", c.ID)
	}
	return RESTClient{API: api, Token: token}
}

// Request builds a request with header fields, given as pairs. The Content-Type of a body defaults to JSON.
func (c RESTClient) Request(t testing.TB, method, path, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(method, c.API+path, strings.NewReader(body))
	FailOn(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// Do sends a request that Request builds.
func (c RESTClient) Do(t testing.TB, method, path, body string, header ...string) Page {
	t.Helper()
	return Do(t, NewBrowser(t, "").Client, c.Request(t, method, path, body, header...))
}

// ReadJSON decodes a successful response. Any other status ends the test.
func ReadJSON[T any](t testing.TB, p Page, status int) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(p.Body), &v); err != nil || p.Status != status {
		t.Fatalf("%v: %d %v %s, want %d", err, p.Status, p.Header, p.Body, status)
	}
	return v
}

// WantError checks that a response is an error in the API's form: an object error with a code, a message and a field,
// which is null if field is "".
func WantError(t testing.TB, p Page, status int, code, field string) {
	t.Helper()
	var body map[string]map[string]*string
	if err := json.Unmarshal([]byte(p.Body), &body); err != nil || p.Status != status || len(body) != 1 || len(body["error"]) != 3 {
		t.Errorf("%d %s, want %d %s", p.Status, p.Body, status, code)
		return
	}
	e := body["error"]
	got := ""
	if e["field"] != nil {
		got = *e["field"]
	}
	if e["code"] == nil || *e["code"] != code || e["message"] == nil || len(*e["message"]) < 5 || got != field {
		t.Errorf("%s, want %s and the field %q", p.Body, code, field)
	}
}
