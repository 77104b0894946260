package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// resourceServer may introspect what is meant for the API.
var resourceServer = harness.Credentials{ID: "api", Secret: "api-secret-0123456789-0123456789-0123456789"}

const resourceServerClient = `client api {
			secret api-secret-0123456789-0123456789-0123456789
			scopes read
			introspect
		}
		`

// at posts a form to one of the issuer's paths, as a client.
func at(t *testing.T, g *harness.Gateway, path string, c harness.Credentials, form url.Values, header ...string) harness.Page {
	t.Helper()
	if c.Secret == "" && c.ID != "" {
		form = with(form, "client_id", c.ID)
	} else if c.ID != "" {
		header = append(header, "Authorization", basic(c.ID, c.Secret))
	}
	return send(t, harness.NewBrowser(t, ""), http.MethodPost, g.ID+path, form.Encode(), header...)
}

func tokenForm(token string) url.Values { return url.Values{"token": {token}} }

// wantRevoked is the answer of RFC 7009 section 2.2, to a living token and a dead one. The
// body has no meaning, but clients such as simple-oauth2 take anything but JSON for a failure.
func wantRevoked(t *testing.T, p harness.Page) {
	t.Helper()
	wantTokenHeader(t, p)
	if p.Status != http.StatusOK || p.Body != "{}" {
		t.Errorf("%d %v %q", p.Status, p.Header, p.Body)
	}
}

func wantInactive(t *testing.T, p harness.Page) {
	t.Helper()
	wantTokenHeader(t, p)
	if p.Status != http.StatusOK || p.Body != `{"active":false}` {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

func wantActive(t *testing.T, p harness.Page) map[string]any {
	t.Helper()
	wantTokenHeader(t, p)
	if p.Status != http.StatusOK || p.JSON(t)["active"] != true {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	return p.JSON(t)
}

// wantUnavailable is the answer to a fault of the store.
func wantUnavailable(t *testing.T, p harness.Page) {
	t.Helper()
	wantOAuth(t, p, http.StatusServiceUnavailable, "temporarily_unavailable")
	if p.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

// otherNode follows the gateway's store as another node does.
func otherNode(t *testing.T, m *storetest.Memory) *gatewaytest.Verifier {
	t.Helper()
	return gatewaytest.NewVerifier(t, m, masterSecret)
}

// wantDeadAt is wantDead at another node.
func wantDeadAt(t *testing.T, node *gatewaytest.Verifier, access string) {
	t.Helper()
	for deadline := time.Now().Add(deadWithin); ; time.Sleep(10 * time.Millisecond) {
		if _, err := node.Verify(t.Context(), access); errors.Is(err, gatewaytest.ErrInvalid) {
			return
		}
		if time.Now().After(deadline) {
			t.Error("another node still takes it")
			return
		}
	}
}

func TestRevocation(t *testing.T) {
	g, _, m := startFaulty(t)
	c := newCoder(t, g)
	node := otherNode(t, m)
	alive := func(t *testing.T, access string) {
		t.Helper()
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	}
	fresh := func(t *testing.T) (access, refresh string) {
		t.Helper()
		access, refresh = wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		alive(t, access) // it is in the guard's cache (V11)
		if _, err := node.Verify(t.Context(), access); err != nil {
			t.Fatal(err)
		}
		return access, refresh
	}
	t.Run("V01 a refresh token", func(t *testing.T) {
		access, refresh := fresh(t)
		access2, refresh2 := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		wantRevoked(t, at(t, g, "/revoke", web, tokenForm(refresh2)))
		for _, a := range []string{access, access2} {
			wantDead(t, g, a)
			wantDeadAt(t, node, a)
		}
		for _, r := range []string{refresh, refresh2} {
			wantOAuth(t, g.Token(t, web, refreshWith(r)), http.StatusBadRequest, "invalid_grant")
		}
	})
	t.Run("V01 a replaced refresh token", func(t *testing.T) {
		access, refresh := fresh(t)
		_, refresh2 := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		wantRevoked(t, at(t, g, "/revoke", web, tokenForm(refresh)))
		wantDead(t, g, access)
		wantOAuth(t, g.Token(t, web, refreshWith(refresh2)), http.StatusBadRequest, "invalid_grant")
	})
	t.Run("V02, V11 an access token", func(t *testing.T) {
		access, refresh := fresh(t)
		wantRevoked(t, at(t, g, "/revoke", web, with(tokenForm(access), "token_type_hint", "refresh_token")))
		wantDead(t, g, access)
		wantDeadAt(t, node, access)
		next, _ := wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		alive(t, next)
	})
	t.Run("V03 what is no living token", func(t *testing.T) {
		access, refresh := fresh(t)
		dead, _ := fresh(t)
		for range 2 {
			wantRevoked(t, at(t, g, "/revoke", web, tokenForm(dead)))
		}
		for _, s := range []string{"x", "a.b.c", otherStart(refresh), refresh[:20], access[:len(access)-6] + "xxxxxx", strings.Repeat("A", 75), strings.Repeat("x", 60_000)} {
			wantRevoked(t, at(t, g, "/revoke", web, tokenForm(s)))
		}
		alive(t, access)
		_, refresh = wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		for range 2 {
			wantRevoked(t, at(t, g, "/revoke", web, tokenForm(refresh)))
		}
	})
	t.Run("V04 another client's token", func(t *testing.T) {
		access, refresh := fresh(t)
		for _, thief := range []harness.Credentials{other, machine, spa} {
			wantOAuth(t, at(t, g, "/revoke", thief, tokenForm(access)), http.StatusBadRequest, "unauthorized_client")
			wantOAuth(t, at(t, g, "/revoke", thief, tokenForm(refresh)), http.StatusBadRequest, "unauthorized_client")
		}
		alive(t, access)
		wantTokens(t, g.Token(t, web, refreshWith(refresh)))
	})
	t.Run("V07 no or wrong authentication", func(t *testing.T) {
		access, _ := fresh(t)
		for _, c := range []harness.Credentials{{}, {ID: "web"}, {ID: "web", Secret: other.Secret}, {ID: "nobody"}, {ID: "nobody", Secret: web.Secret}} {
			wantOAuth(t, at(t, g, "/revoke", c, tokenForm(access), "X-Forwarded-For", somebody()), http.StatusUnauthorized, "invalid_client")
		}
		wantOAuth(t, at(t, g, "/revoke", web, url.Values{"token_type_hint": {"access_token"}}), http.StatusBadRequest, "invalid_request")
		wantOAuth(t, at(t, g, "/revoke?token="+access, web, tokenForm(access)), http.StatusBadRequest, "invalid_request")
		wantOAuth(t, at(t, g, "/revoke", web, tokenForm(access), "Content-Type", "application/json"), http.StatusUnsupportedMediaType, "invalid_request")
		alive(t, access)
	})
	t.Run("V08 methods", func(t *testing.T) {
		for _, path := range []string{"/revoke", "/introspect"} {
			for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
				p := send(t, harness.NewBrowser(t, ""), method, g.ID+path, "")
				if p.Status != http.StatusMethodNotAllowed || p.Header.Get("Allow") != "POST" {
					t.Errorf("%s %s: %d %v", method, path, p.Status, p.Header)
				}
			}
		}
	})
	t.Run("V10 a public client", func(t *testing.T) {
		access, refresh := wantTokens(t, g.Token(t, spa, exchange(c.code("spa"), spaCallback)))
		p := at(t, g, "/revoke", spa, tokenForm(refresh), "Origin", "https://spa.example")
		wantRevoked(t, p)
		if p.Header.Get("Access-Control-Allow-Origin") != "https://spa.example" {
			t.Errorf("%v", p.Header)
		}
		wantDead(t, g, access)
	})
}

// V09: nothing is acknowledged that is not durable (CVE-2020-15223).
func TestStoreOutageRevokesNothing(t *testing.T) {
	g, _, m := startFaulty(t)
	c := newCoder(t, g)
	for _, kind := range []string{"access", "refresh"} {
		access, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
		sent := map[string]string{"access": access, "refresh": refresh}[kind]
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		m.Fail(errors.New("away"))
		p := at(t, g, "/revoke", web, tokenForm(sent))
		wantUnavailable(t, p)
		if strings.Contains(p.Body, "away") {
			t.Errorf("the cause leaves: %s", p.Body)
		}
		wantUnavailable(t, at(t, g, "/introspect", web, tokenForm(sent))) // I06
		m.Fail(nil)
		time.Sleep(100 * time.Millisecond)
		if p := bearer(t, g, "/read", access); p.Status != http.StatusOK && p.Status != http.StatusServiceUnavailable {
			t.Errorf("%s: the access token died although nothing was revoked: %d %s", kind, p.Status, p.Body)
		}
		_, refresh = wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		m.LoseReply(errors.New("lost")) // stored, and nobody knows
		if p := at(t, g, "/revoke", web, tokenForm(access)); p.Status != http.StatusOK {
			wantUnavailable(t, p)
		}
		wantRevoked(t, at(t, g, "/revoke", web, tokenForm(access)))
		wantRevoked(t, at(t, g, "/revoke", web, tokenForm(refresh)))
		wantDead(t, g, access)
		wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
	}
}
