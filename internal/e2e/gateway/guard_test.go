package gateway

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestGuardFollowsRFC6750(t *testing.T) {
	g, up, m := startFaulty(t)
	f := newForger(t, g, m)
	read := f.token(nil)
	t.Run("G01 no credentials", func(t *testing.T) {
		for _, path := range []string{"/read", "/read/1", "/admin", "/admin/x"} {
			wantChallenge(t, g.Call(t, http.MethodGet, path, ""), up, http.StatusUnauthorized, "")
		}
		for _, scheme := range []string{"Basic YWxpY2U6eA==", "Digest x", "Negotiate x"} {
			p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", scheme)
			wantChallenge(t, p, up, http.StatusUnauthorized, "")
		}
	})
	t.Run("G02 garbage, expired, cut", func(t *testing.T) {
		now := time.Now().Unix()
		for _, token := range []string{
			"garbage", "a.b.c", read[:len(read)-1], read[:len(read)-5] + "AAAAA", read + "A", "x" + read,
			f.token(map[string]any{"exp": now - 1}), f.token(map[string]any{"iat": now - 7200, "exp": now}),
		} {
			wantChallenge(t, bearer(t, g, "/read", token), up, http.StatusUnauthorized, "invalid_token")
		}
	})
	t.Run("G02 malformed headers", func(t *testing.T) {
		for _, header := range [][]string{
			{"Authorization: Bearer "}, {"Authorization: Bearer"}, {"Authorization: Bearer a b"}, {"Authorization: Bearer a,b"},
			{"Authorization: Bearer " + read, "Authorization: Bearer " + read}, {"Authorization: Bearer " + read, "authorization: Basic eDp5"},
		} {
			p := harness.Wire(t, g.API, "GET /read", header...)
			wantChallenge(t, p, up, http.StatusBadRequest, "invalid_request")
		}
	})
	t.Run("G03 a scope is missing", func(t *testing.T) {
		for path, scope := range map[string]string{"/admin": "admin", "/admin/x": "admin"} {
			p := bearer(t, g, path, read)
			wantChallenge(t, p, up, http.StatusForbidden, "insufficient_scope")
			if !strings.Contains(p.Header.Get("Www-Authenticate"), `scope="`+scope+`"`) {
				t.Errorf("%v", p.Header)
			}
		}
		p := send(t, harness.NewBrowser(t, ""), http.MethodPost, g.API+"/read", "", "Authorization", "Bearer "+read)
		wantChallenge(t, p, up, http.StatusForbidden, "insufficient_scope")
	})
	t.Run("G03 no rule", func(t *testing.T) {
		for _, path := range []string{"/", "/else", "/reads", "/publics"} {
			wantEnvelope(t, bearer(t, g, path, read), http.StatusForbidden, "forbidden")
			wantEnvelope(t, bearer(t, g, path, "x"), http.StatusForbidden, "forbidden")
		}
		wantHits(t, up, 0)
	})
	t.Run("G04 scopes are whole words", func(t *testing.T) {
		for _, scope := range []string{"administrator", "readmin", "admin:all", "ADMIN", "read:admin", "xadmin admin2", ""} {
			p := bearer(t, g, "/admin", f.token(map[string]any{"scope": scope}))
			wantChallenge(t, p, up, http.StatusForbidden, "insufficient_scope")
		}
		for _, scope := range []string{"admin", "read admin", "admin read"} {
			if p := bearer(t, g, "/admin", f.token(map[string]any{"scope": scope})); p.Status != http.StatusOK {
				t.Errorf("%s: %d %s", scope, p.Status, p.Body)
			}
			wantHits(t, up, 1)
		}
	})
	t.Run("G06 a token in the address", func(t *testing.T) {
		for _, query := range []string{"access_token=" + read, "x=1&access_token=" + read, "ACCESS_TOKEN=" + read, "access%5ftoken=" + read, "access_token[]=" + read} {
			wantEnvelope(t, g.Call(t, http.MethodGet, "/read?"+query, ""), http.StatusBadRequest, "invalid_request")
			wantEnvelope(t, g.Call(t, http.MethodGet, "/public?"+query, ""), http.StatusBadRequest, "invalid_request")
			wantEnvelope(t, g.Call(t, http.MethodGet, "/read?"+query, read), http.StatusBadRequest, "invalid_request")
		}
		wantHits(t, up, 0)
	})
	t.Run("G06 a token in the body", func(t *testing.T) {
		p := send(t, harness.NewBrowser(t, ""), http.MethodPost, g.API+"/read", "access_token="+read)
		wantChallenge(t, p, up, http.StatusUnauthorized, "")
	})
	t.Run("G07 the scheme in any case", func(t *testing.T) {
		for _, scheme := range []string{"bearer", "BEARER", "bEARER", "Bearer"} {
			p := harness.Wire(t, g.API, "GET /read", "Authorization: "+scheme+" "+read)
			if p.Status != http.StatusOK {
				t.Errorf("%s: %d %s", scheme, p.Status, p.Body)
			}
			wantHits(t, up, 1)
		}
	})
	t.Run("G27 G28 nothing else decides", func(t *testing.T) {
		for _, header := range []string{
			"X-Forwarded-Uri: /public", "X-Original-URL: /public", "X-Rewrite-URL: /public", "X-Forwarded-Prefix: /public", "X-HTTP-Method-Override: GET",
			"X-Forwarded-Method: OPTIONS", "X-Original-Method: OPTIONS", "Forwarded: for=127.0.0.1;host=localhost", "X-Forwarded-Host: public",
			"User-Agent: GoogleHC/1.0", "User-Agent: kube-probe/1.30", "User-Agent: ELB-HealthChecker/2.0", "X-Real-IP: 127.0.0.1",
			"X-Auth-Subject: u-1", "X-Auth-Scopes: admin", "Cookie: gatehouse=x", "Origin: null", "Upgrade: h2c",
		} {
			wantChallenge(t, harness.Wire(t, g.API, "GET /admin", header), up, http.StatusUnauthorized, "")
			p := harness.Wire(t, g.API, "POST /read", header, "Content-Length: 0", "Authorization: Bearer "+read)
			wantChallenge(t, p, up, http.StatusForbidden, "insufficient_scope")
		}
		// What would change the request that was judged does not go on.
		p := harness.Wire(t, g.API, "GET /public", "X-Original-URL: /admin", "X-Rewrite-URL: /admin", "X-HTTP-Method-Override: DELETE", "X_HTTP_Method: DELETE")
		if p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		for name := range wantHits(t, up, 1)[0].Header {
			if lower := strings.ToLower(name); strings.Contains(lower, "override") || strings.Contains(lower, "original") || strings.Contains(lower, "rewrite") || strings.Contains(lower, "method") {
				t.Errorf("%s went on", name)
			}
		}
	})
	t.Run("G36 methods that echo or tunnel", func(t *testing.T) {
		for _, line := range []string{"TRACE /public", "TRACK /public", "TRACE /read", "CONNECT /public", "CONNECT localhost:80", "delete /read", "Get /public"} {
			p := harness.Wire(t, g.API, line, "Authorization: Bearer "+read)
			if p.Status != http.StatusMethodNotAllowed && p.Status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", line, p.Status, p.Body)
			}
			wantHits(t, up, 0)
		}
	})
	t.Run("G38 placeholders are text", func(t *testing.T) {
		for _, text := range []string{"{env.GATEHOUSE_TEST_SECRET}", "{http.request.header.Authorization}", "{file./etc/hostname}"} {
			p := harness.Wire(t, g.API, "GET /public/"+text+"?q="+text, "X-Text: "+text, "Authorization: Bearer "+read)
			hits := wantHits(t, up, 1)
			if p.Status != http.StatusOK || len(hits) != 1 || hits[0].URL.Path != "/public/"+text || hits[0].URL.Query().Get("q") != text || hits[0].Header.Get("X-Text") != text {
				t.Errorf("%s: %d %v", text, p.Status, hits)
			}
		}
		wantChallenge(t, harness.Wire(t, g.API, "GET /read", "Authorization: Bearer {env.GATEHOUSE_TEST_SECRET}"), up, http.StatusBadRequest, "invalid_request")
	})
}

func TestStreamsNeedATokenToo(t *testing.T) { // G35
	g, up := start(t)
	upgrade := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	t.Run("G35 without", func(t *testing.T) {
		wantChallenge(t, harness.Wire(t, g.API, "GET /read", upgrade...), up, http.StatusUnauthorized, "")
		wantChallenge(t, harness.Wire(t, g.API, "GET /read", append(upgrade, "Authorization: Bearer x.y.z", "Sec-WebSocket-Protocol: bearer")...), up, http.StatusUnauthorized, "invalid_token")
	})
	t.Run("G35 with one it passes", func(t *testing.T) {
		access, _ := tokens(t, g, web)
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			c, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
			_ = rw.Flush()
			_, _ = rw.ReadByte()
		})
		c := harness.Dial(t, g.API)
		if _, err := fmt.Fprintf(c, "GET /read HTTP/1.1\r\nHost: %s\r\n%s\r\nAuthorization: Bearer %s\r\n\r\n",
			strings.TrimPrefix(g.API, "http://"), strings.Join(upgrade, "\r\n"), access); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("%v %v", res, err)
		}
		if hits := wantHits(t, up, 1); len(hits) == 1 && hits[0].Header.Get("Authorization") != "" {
			t.Error("the token went on")
		}
	})
}

func TestGuardFailsClosed(t *testing.T) { // G37
	t.Run("G37 the store is away", func(t *testing.T) {
		g, up, m := startFaulty(t, "$GLOBAL", "revocation_max_stale 1s")
		f := newForger(t, g, m)
		token := f.token(nil)
		if p := bearer(t, g, "/read", token); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		wantHits(t, up, 1)
		m.Fail(errors.New("away"))
		unavailable := func(token string) {
			t.Helper()
			p := bearer(t, g, "/read", token)
			wantEnvelope(t, p, http.StatusServiceUnavailable, "unavailable")
			if n, err := strconv.Atoi(p.Header.Get("Retry-After")); err != nil || n < 1 {
				t.Errorf("Retry-After %q", p.Header.Get("Retry-After"))
			}
			if strings.Contains(p.Body, "away") {
				t.Errorf("the cause leaves: %s", p.Body)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		// A key that is not known may be one that another node made: nobody can say.
		unavailable(f.sign(f.header(map[string]any{"kid": strings.Repeat("k", len(f.kid))}), f.claims))
		unavailable(token)        // verified before
		unavailable(f.token(nil)) // never seen
		wantHits(t, up, 0)
		wantChallenge(t, g.Call(t, http.MethodGet, "/read", ""), up, http.StatusUnauthorized, "")
		m.Fail(nil)
		for deadline := time.Now().Add(8 * time.Second); bearer(t, g, "/read", token).Status != http.StatusOK; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the guard does not recover")
			}
		}
	})
	t.Run("G37 configurations that would let everything pass", func(t *testing.T) {
		g, _ := start(t)
		for name, text := range map[string]string{
			"no app":              "{\n\tadmin $ADMIN\n}\nhttp://$API {\n\toauth_guard\n\trespond ok\n}\n",
			"an undeclared scope": strings.Replace(site, "scope admin * /admin /admin/*", "scope adnim * /admin /admin/*", 1),
			"no scope":            strings.Replace(site, "scope admin * /admin /admin/*", "scope * /admin /admin/*", 1),
			"a bad path":          strings.Replace(site, "scope admin * /admin /admin/*", "scope admin * admin", 1),
			"an empty issuer":     strings.Replace(site, "issuer http://$ID", "", 1),
			"no store":            strings.Replace(site, "store bolt $DIR/state.db", "store nowhere", 1),
		} {
			if err := g.TryLoad(text); err == nil {
				t.Errorf("%s was loaded", name)
			}
		}
		if p := g.Call(t, http.MethodGet, "/read", ""); p.Status != http.StatusUnauthorized {
			t.Errorf("afterwards: %d", p.Status)
		}
	})
}

func TestCallerHeadersComeOnlyFromTheGateway(t *testing.T) {
	g, up, m := startFaulty(t)
	f := newForger(t, g, m)
	ours := func(h http.Header) (found []string) {
		for name, values := range h {
			plain := strings.Map(func(r rune) rune {
				if r == '-' || r == '_' || r == '.' || r == ' ' {
					return -1
				}
				return r
			}, strings.ToLower(name))
			if strings.HasPrefix(plain, "xauth") {
				found = append(found, name+"="+strings.Join(values, "|"))
			}
		}
		slices.Sort(found)
		return found
	}
	spoofed := [][]string{
		{"X-Auth-Subject: admin"}, {"x-auth-subject: admin"}, {"X_Auth_Subject: admin"}, {"x_auth_subject: admin"}, {"X-Auth.Subject: admin"},
		{"X.Auth_Subject: admin"}, {"X-Auth_Subject: admin"}, {"X-AUTH-SUBJECT: admin"}, {"X-Auth-Subject: a", "x-auth-subject: b", "X_AUTH_SUBJECT: c"},
		{"X-Auth-Client: admin", "X-Auth-Scopes: admin", "x_auth_scopes: admin"}, {"Connection: X-Auth-Subject, x_auth_client"},
		{"Connection: close, x-auth-subject", "X-Auth-Subject: admin"}, {"Trailer: X-Auth-Subject", "X-Auth-Subject: admin"},
	}
	for _, header := range spoofed {
		t.Run("G30 G31 "+strings.Join(header, " "), func(t *testing.T) {
			harness.Wire(t, g.API, "GET /public", header...)
			if hits := wantHits(t, up, 1); len(hits) == 1 && len(ours(hits[0].Header)) != 0 {
				t.Errorf("public: %v", ours(hits[0].Header))
			}
			harness.Wire(t, g.API, "GET /read", append(header, "Authorization: Bearer "+f.token(nil))...)
			want := []string{"X-Auth-Client=web", "X-Auth-Scopes=read", "X-Auth-Subject=u-1"}
			if hits := wantHits(t, up, 1); len(hits) == 1 && !slices.Equal(ours(hits[0].Header), want) {
				t.Errorf("guarded: %v", ours(hits[0].Header))
			}
		})
	}
	t.Run("G30 in a trailer", func(t *testing.T) {
		trailers := make(chan http.Header, 1)
		up.Answer(func(w http.ResponseWriter, r *http.Request) {
			_, _ = bufio.NewReader(r.Body).ReadString(0)
			trailers <- r.Trailer.Clone()
		})
		defer up.Answer(nil)
		c := harness.Dial(t, g.API)
		if _, err := fmt.Fprintf(c, "POST /read HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nTransfer-Encoding: chunked\r\nTrailer: X-Auth-Subject\r\n\r\n1\r\na\r\n0\r\nX-Auth-Subject: admin\r\n\r\n",
			strings.TrimPrefix(g.API, "http://"), f.token(map[string]any{"scope": "write"})); err != nil {
			t.Fatal(err)
		}
		if p := harness.ReadAnswer(t, bufio.NewReader(c), http.MethodPost); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		if got := <-trailers; len(ours(got)) != 0 {
			t.Errorf("%v", got)
		}
		wantHits(t, up, 1)
	})
	t.Run("G32 subjects that are no plain text", func(t *testing.T) {
		g.Load(t, anybody)
		defer g.Load(t, faultySite)
		for sub, want := range map[string]string{"a\r\nX-Admin: 1": "a%0D%0AX-Admin:%201", "héé": "h%C3%A9%C3%A9", "a,b": "a,b", "50%": "50%25"} {
			p := bearer(t, g, "/read", f.token(map[string]any{"sub": sub}))
			hits := wantHits(t, up, 1)
			if p.Status != http.StatusOK || len(hits) != 1 || hits[0].Header.Get("X-Admin") != "" || !slices.Equal(hits[0].Header.Values("X-Auth-Subject"), []string{want}) {
				t.Errorf("%q: %d %v", sub, p.Status, hits)
			}
		}
		wantChallenge(t, bearer(t, g, "/read", f.token(map[string]any{"sub": strings.Repeat("a", 2000)})), up, http.StatusUnauthorized, "invalid_token")
		wantChallenge(t, bearer(t, g, "/read", f.token(map[string]any{"sub": strings.Repeat("a", 10<<10)})), up, http.StatusUnauthorized, "invalid_token")
	})
	t.Run("G33 our credentials do not go on", func(t *testing.T) {
		for _, path := range []string{"/public", "/read"} {
			harness.Wire(t, g.API, "GET "+path, "Authorization: Bearer "+f.token(nil), "Cookie: a=1; gatehouse=secret; b=2", "Cookie: __Host-gatehouse=secret")
			hits := wantHits(t, up, 1)
			if len(hits) != 1 || hits[0].Header.Get("Authorization") != "" || strings.Contains(fmt.Sprint(hits[0].Header), "secret") ||
				!strings.Contains(hits[0].Header.Get("Cookie"), "a=1") || !strings.Contains(hits[0].Header.Get("Cookie"), "b=2") {
				t.Errorf("%s: %v", path, hits[0].Header)
			}
		}
	})
	t.Run("G33 unless configured", func(t *testing.T) {
		g.Load(t, strings.Replace(faultySite, "$GUARD", "forward_token", 1))
		token := f.token(nil)
		bearer(t, g, "/read", token)
		if hits := wantHits(t, up, 1); len(hits) == 1 && hits[0].Header.Get("Authorization") != "Bearer "+token {
			t.Errorf("%v", hits[0].Header)
		}
	})
}
