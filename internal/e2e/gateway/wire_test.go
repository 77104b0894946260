package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

var lastAddress atomic.Uint32

// somebody is an X-Forwarded-For that nobody sent before, for sites that trust this
// machine: what one address may fail is limited.
func somebody() string {
	n := lastAddress.Add(1)
	return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
}

// bearer calls the API with a token, as somebody new.
func bearer(t *testing.T, g *harness.Gateway, path, token string) harness.Page {
	t.Helper()
	return send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+path, "", "Authorization", "Bearer "+token, "X-Forwarded-For", somebody())
}

// wantHits says how many requests reached the upstream since the last time.
func wantHits(t *testing.T, up *harness.Upstream, want int) []*http.Request {
	t.Helper()
	hits := up.Hits()
	if len(hits) != want {
		t.Errorf("%d requests reached the upstream, want %d", len(hits), want)
		for _, h := range hits {
			t.Logf("%s %s", h.Method, h.RequestURI)
		}
	}
	return hits
}

// wantEnvelope is a failure in the form of the API: exactly these members.
func wantEnvelope(t *testing.T, p harness.Page, status int, code string) map[string]any {
	t.Helper()
	if p.Status != status || p.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %s, want %d: %.300s", p.Status, p.Header.Get("Content-Type"), status, p.Body)
		return nil
	}
	m := p.JSON(t)
	e, ok := m["error"].(map[string]any)
	if !ok || len(m) != 1 || len(e) != 3 {
		t.Errorf("the members of %s", p.Body)
		return nil
	}
	message, isText := e["message"].(string)
	field, has := e["field"]
	_, fieldIsText := field.(string)
	if e["code"] != code || !isText || message == "" || !has || field != nil && !fieldIsText {
		t.Errorf("%s, want the code %s", p.Body, code)
	}
	return e
}

// wantChallenge is a refusal by RFC 6750 that did not reach the upstream; errorCode ""
// for none.
func wantChallenge(t *testing.T, p harness.Page, up *harness.Upstream, status int, errorCode string) {
	t.Helper()
	code := errorCode
	if code == "" {
		code = "unauthorized"
	}
	wantEnvelope(t, p, status, code)
	h := p.Header.Get("Www-Authenticate")
	if !strings.HasPrefix(h, `Bearer realm="`) || strings.Contains(h, "error=") != (errorCode != "") ||
		errorCode != "" && !strings.Contains(h, `error="`+errorCode+`"`) || len(p.Header.Values("Www-Authenticate")) != 1 {
		t.Errorf("WWW-Authenticate %q, want %s", p.Header.Values("Www-Authenticate"), errorCode)
	}
	wantHits(t, up, 0)
}

// wantOAuth is an error of the token endpoint.
func wantOAuth(t *testing.T, p harness.Page, status int, code string) {
	t.Helper()
	wantTokenHeader(t, p)
	if p.Status != status {
		t.Errorf("%d %s, want %d %s", p.Status, p.Body, status, code)
		return
	}
	m := p.JSON(t)
	if m["error"] != code {
		t.Errorf("%d %s, want %s", p.Status, p.Body, code)
	}
	for name := range m {
		if name != "error" && name != "error_description" && name != "field" {
			t.Errorf("the member %s of %s", name, p.Body)
		}
	}
	if field, there := m["field"]; !there || field == "" {
		t.Errorf("S03 no field in %s", p.Body)
	}
}

// wantTokenHeader is what every answer of the token endpoint has (T18).
func wantTokenHeader(t *testing.T, p harness.Page) {
	t.Helper()
	if p.Header.Get("Cache-Control") != "no-store" || p.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(p.Header.Get("Content-Type"), "application/json") {
		t.Errorf("T18: %v", p.Header)
	}
}

// wantTokens is a success of the token endpoint.
func wantTokens(t *testing.T, p harness.Page) (access, refresh string) {
	t.Helper()
	wantTokenHeader(t, p)
	if p.Status != http.StatusOK {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	m := p.JSON(t)
	access, _ = m["access_token"].(string)
	refresh, _ = m["refresh_token"].(string)
	if access == "" {
		t.Fatalf("no access token: %s", p.Body)
	}
	return access, refresh
}

// deadWithin is how long after its revocation a token may still pass.
const deadWithin = time.Second

// wantDead waits until a token is refused, and no longer than the gateway promises.
func wantDead(t *testing.T, g *harness.Gateway, token string) {
	t.Helper()
	for deadline := time.Now().Add(deadWithin); ; time.Sleep(10 * time.Millisecond) {
		asked := time.Now()
		p := bearer(t, g, "/read", token)
		if p.Status == http.StatusUnauthorized {
			return
		}
		if asked.After(deadline) {
			t.Errorf("%d although revoked", p.Status)
			return
		}
	}
}

// S03: a program that asks for JSON below the issuer gets JSON, also where nothing is.
func TestNotFoundBelowTheIssuerIsJSON(t *testing.T) {
	g, _ := start(t)
	ask := func(path string, header ...string) harness.Page {
		return harness.Send(t, http.DefaultClient, http.MethodGet, g.ID+path, "", header...)
	}
	for _, accept := range []string{"application/json", "application/problem+json, */*;q=0.1", "application/json, text/plain, */*"} {
		p := ask("/nothing/here", "Accept", accept)
		p.Header.Set("Content-Type", strings.TrimSuffix(p.Header.Get("Content-Type"), "; charset=utf-8"))
		if e := wantEnvelope(t, p, http.StatusNotFound, "not_found"); e["field"] != nil {
			t.Errorf("S03 %s: %s", accept, p.Body)
		}
	}
	for _, accept := range []string{"", "*/*", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html, application/json", "application/json;q=0"} {
		if p := ask("/nothing/here", "Accept", accept); p.Status != http.StatusNotFound || !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
			t.Errorf("S03 %q: %d %v", accept, p.Status, p.Header)
		}
	}
	for _, accept := range []string{"", "*/*", "text/html"} {
		wantSNS(t, ask("/sns/nothing", "Accept", accept), http.StatusNotFound, "not_found", "", 40066)
	}
}
