package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// answer is a response that was read to the end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %.300s", a.status, a.body) }

// field is a text of a JSON body, "" when there is none.
func (a answer) field(name string) string {
	var m map[string]any
	if json.Unmarshal(a.body, &m) != nil {
		return ""
	}
	s, _ := m[name].(string)
	return s
}

// refusedGrant is what the losers of a race for a code or token are told.
func (a answer) refusedGrant() bool {
	return a.status == http.StatusBadRequest && a.field("error") == "invalid_grant"
}

// refusedToken: the guard found the token invalid. To an address with many of those it
// says 429, without the fields that the limiter's own 429 has.
func (a answer) refusedToken() bool {
	return a.status == http.StatusUnauthorized ||
		a.status == http.StatusTooManyRequests && a.header.Get("X-RateLimit-Limit") == ""
}

func (n *node) send(r *http.Request) (answer, error) {
	res, err := n.plain.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, body}, err
}

// form posts to the issuer at this node.
func (c *cluster) form(at *node, path string, who harness.Credentials, form url.Values) (answer, error) {
	r, err := http.NewRequest(http.MethodPost, c.issuer+path, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(who.ID, who.Secret)
	return at.send(r)
}

func (c *cluster) exchange(at *node, code string) (answer, error) {
	return c.form(at, "/token", web, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {harness.Verifier},
	})
}

func (c *cluster) refresh(at *node, token string) (answer, error) {
	return c.form(at, "/token", web, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}

func (c *cluster) revoke(at *node, who harness.Credentials, token string) (answer, error) {
	return c.form(at, "/revoke", who, url.Values{"token": {token}})
}

// machineToken is a token without a user.
func (c *cluster) machineToken(t *testing.T, at *node) string {
	t.Helper()
	a, err := c.form(at, "/token", machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}})
	if err != nil || a.field("access_token") == "" {
		t.Fatal("client_credentials:", a, err)
	}
	return a.field("access_token")
}

// read calls the guarded API of this node.
func (n *node) read(access string) (answer, error) {
	r, err := http.NewRequest(http.MethodGet, n.API+"/read", nil)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+access)
	return n.send(r)
}

func (c *cluster) authorizeURL() string {
	return c.issuer + "/authorize?" + url.Values{
		"client_id": {web.ID}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
}

// visitor is a browser whose requests a test leads to one node or another.
type visitor struct {
	*harness.Browser
	at *node
}

// RoundTrip implements http.RoundTripper.
func (v *visitor) RoundTrip(r *http.Request) (*http.Response, error) {
	return v.at.plain.Transport.RoundTrip(r)
}

func (c *cluster) visitor(t *testing.T, at *node) *visitor {
	t.Helper()
	v := &visitor{Browser: harness.NewBrowser(t, c.issuer), at: at}
	v.Client.Transport = v
	return v
}

// signIn is a browser in which alice is signed in and has allowed the client.
func (c *cluster) signIn(t *testing.T, at *node) *visitor {
	t.Helper()
	v := c.visitor(t, at)
	if code := v.Authorize(c.authorizeURL(), username, password).Query().Get("code"); code == "" {
		t.Fatal("no code after signing in")
	}
	return v
}

// code asks for a code in a browser that is signed in, without a page.
func (c *cluster) code(t *testing.T, v *visitor) string {
	t.Helper()
	var p harness.Page
	whileLate(func() int {
		p = v.Get(c.authorizeURL() + "&prompt=none")
		return p.Status
	})
	code := p.Location(t).Query().Get("code")
	if code == "" {
		t.Fatalf("no code: %s", p.Header.Get("Location"))
	}
	return code
}

// whileLate asks again for some seconds while the answer is 503: on a busy machine the store
// answers late, which is not what is tested here.
func whileLate(ask func() (status int)) {
	for end := time.Now().Add(10 * time.Second); ask() == http.StatusServiceUnavailable && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
}

// family is what one code was exchanged for.
type family struct{ access, refresh string }

// grant gets a code at one node and exchanges it at another.
func (c *cluster) grant(t *testing.T, v *visitor, at *node) family {
	t.Helper()
	var a answer
	var err error
	whileLate(func() int {
		a, err = c.exchange(at, c.code(t, v))
		return a.status
	})
	if err != nil || a.status != http.StatusOK {
		t.Fatal("exchange:", a, err)
	}
	return family{a.field("access_token"), a.field("refresh_token")}
}
