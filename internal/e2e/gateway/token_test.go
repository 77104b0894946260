package gateway

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/quickest"
)

var credentialsForm = url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}

// post sends a body to the token endpoint.
func post(t *testing.T, g *harness.Gateway, body string, header ...string) harness.Page {
	t.Helper()
	return send(t, harness.NewBrowser(t, ""), http.MethodPost, g.ID+"/token", body, header...)
}

func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

func TestClientMustUseItsAuthMethod(t *testing.T) { // T11
	const secret = "held-secret-0123456789-0123456789-0123456789"
	held := func(method string) string {
		return "client " + method + " {\n\t\t\tsecret " + secret + "\n\t\t\tauth_method " + method + "\n\t\t\tscopes read\n\t\t}\n"
	}
	g, _ := start(t, "$GLOBAL", held("client_secret_basic")+held("client_secret_post"))
	for _, id := range []string{"client_secret_basic", "client_secret_post"} {
		inHeader := post(t, g, credentialsForm.Encode(), "Authorization", basic(id, secret))
		inBody := post(t, g, credentialsForm.Encode()+"&client_id="+id+"&client_secret="+secret)
		right, wrong := inHeader, inBody
		if id == "client_secret_post" {
			right, wrong = inBody, inHeader
		}
		if right.Status != http.StatusOK {
			t.Errorf("%s: %d %s", id, right.Status, right.Body)
		}
		wantOAuth(t, wrong, http.StatusUnauthorized, "invalid_client")
	}
}

func TestInvalidTokenRequestsAreRefused(t *testing.T) {
	g, _ := start(t, "$GLOBAL", `client no-scope {
			secret no-scope-secret-0123456789-0123456789-012
			grants client_credentials
			scopes read
		}`)
	full := credentialsForm.Encode()
	right := basic(machine.ID, machine.Secret)
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
		code       string
	}{
		{"T02 JSON", `{"grant_type":"client_credentials"}`, []string{"Content-Type", "application/json", "Authorization", right}, 415, "invalid_request"},
		{"T02 text", full, []string{"Content-Type", "text/plain", "Authorization", right}, 415, "invalid_request"},
		{"T02 multipart", full, []string{"Content-Type", "multipart/form-data; boundary=x", "Authorization", right}, 415, "invalid_request"},
		{"T03 empty", "", []string{"Authorization", right}, 400, "invalid_request"},
		{"T04 grant_type missing", "scope=read", []string{"Authorization", right}, 400, "invalid_request"},
		{"T04 grant_type bad", "grant_type=bad", []string{"Authorization", right}, 400, "unsupported_grant_type"},
		{"T04 grant_type password", "grant_type=password&username=alice&password=x", []string{"Authorization", right}, 400, "unsupported_grant_type"},
		{"T04 grant_type of others", "grant_type=refresh_token&refresh_token=x", []string{"Authorization", right}, 400, "unauthorized_client"},
		{"T07 wrong secret", full, []string{"Authorization", basic(machine.ID, web.Secret)}, 401, "invalid_client"},
		{"T07 a prefix of the secret", full, []string{"Authorization", basic(machine.ID, machine.Secret[:40])}, 401, "invalid_client"},
		{"T10 another client_id", full + "&client_id=web", []string{"Authorization", right}, 400, "invalid_request"},
		{"T10 two methods", full + "&client_id=machine&client_secret=" + machine.Secret, []string{"Authorization", right}, 400, "invalid_request"},
		{"T12 no secret", full + "&client_id=machine", nil, 401, "invalid_client"},
		{"T12 empty secret", full, []string{"Authorization", basic(machine.ID, "")}, 401, "invalid_client"},
		{"T12 empty secret in the body", full + "&client_id=machine&client_secret=", nil, 401, "invalid_client"},
		{"T12 nobody", full, nil, 401, "invalid_client"},
		{"T13 a public client with a secret", "grant_type=refresh_token&refresh_token=x&client_id=spa&client_secret=x", nil, 401, "invalid_client"},
		{"T25 invalid UTF-8", "grant_type=client_credentials&scope=%ff%fe", []string{"Authorization", right}, 400, "invalid_request"},
		{"T25 NUL", "grant_type=client_credentials&scope=read%00", []string{"Authorization", right}, 400, "invalid_request"},
		{"T25 NUL in the grant", "grant_type=client_credentials%00", []string{"Authorization", right}, 400, "invalid_request"},
		{"T25 bad escape", "grant_type=client_credentials&scope=%zz", []string{"Authorization", right}, 400, "invalid_request"},
		{"a repeated parameter", full + "&scope=read", []string{"Authorization", right}, 400, "invalid_request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := post(t, g, c.body, c.header...)
			wantOAuth(t, p, c.status, c.code)
			wantBasic := c.status == 401 && len(c.header) > 0
			if has := strings.HasPrefix(p.Header.Get("Www-Authenticate"), `Basic realm="`); has != wantBasic {
				t.Errorf("WWW-Authenticate %q", p.Header.Get("Www-Authenticate"))
			}
		})
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE"} {
		t.Run("T01 "+method, func(t *testing.T) {
			p := send(t, harness.NewBrowser(t, ""), method, g.ID+"/token?"+full, "", "Authorization", right)
			if p.Status != http.StatusMethodNotAllowed || p.Header.Get("Allow") != "POST" {
				t.Errorf("%d %v", p.Status, p.Header)
			}
			if method == "GET" {
				wantOAuth(t, p, http.StatusMethodNotAllowed, "invalid_request")
			}
		})
	}
	t.Run("T05 parameters in the address", func(t *testing.T) {
		for query, body := range map[string]string{
			full + "&client_id=machine&client_secret=" + machine.Secret: "",
			"client_id=machine&client_secret=" + machine.Secret:         full,
			"extra=x": full,
		} {
			p := send(t, harness.NewBrowser(t, ""), http.MethodPost, g.ID+"/token?"+query, body)
			wantOAuth(t, p, http.StatusBadRequest, "invalid_request")
		}
	})
	t.Run("T08 unknown and wrong look alike", func(t *testing.T) {
		for _, header := range [][2]string{{basic(machine.ID, web.Secret), basic("nobody", web.Secret)}, {basic(machine.ID, "x"), basic(`"><script>`, "x")}} {
			wrong, unknown := post(t, g, full, "Authorization", header[0]), post(t, g, full, "Authorization", header[1])
			wrong.Header.Del("Date")
			unknown.Header.Del("Date")
			if wrong.Status != unknown.Status || wrong.Body != unknown.Body || fmt.Sprint(wrong.Header) != fmt.Sprint(unknown.Header) {
				t.Errorf("%v %s\n%v %s", wrong.Header, wrong.Body, unknown.Header, unknown.Body)
			}
		}
	})
}

func TestTokenAnswers(t *testing.T) {
	g, _ := start(t, "$TOKENS", "access 20m")
	t.Run("T17 T18 what a success holds", func(t *testing.T) {
		p := g.Token(t, machine, credentialsForm)
		wantTokens(t, p)
		m := p.JSON(t)
		if m["token_type"] != "Bearer" || m["expires_in"] != 1200.0 || m["scope"] != "read" || len(m) != 4 {
			t.Errorf("%s", p.Body)
		}
		claims := claimsOf(t, m["access_token"].(string))
		if life := claims["exp"].(float64) - claims["iat"].(float64); life != 1200 {
			t.Errorf("the token lives %v", life)
		}
	})
	t.Run("T19 scripts of other origins", func(t *testing.T) {
		for origin, want := range map[string]string{
			"https://spa.example": "https://spa.example", "https://evil.example": "", "null": "", "https://client.example": "",
			"https://spa.example.evil.example": "", "http://spa.example": "", "https://SPA.example": "",
		} {
			for _, method := range []string{http.MethodPost, http.MethodOptions} {
				p := send(t, harness.NewBrowser(t, ""), method, g.ID+"/token", credentialsForm.Encode(),
					"Origin", origin, "Access-Control-Request-Method", "POST", "Authorization", basic(machine.ID, machine.Secret))
				if p.Header.Get("Access-Control-Allow-Origin") != want || p.Header.Get("Access-Control-Allow-Credentials") != "" {
					t.Errorf("%s %s: %v", method, origin, p.Header)
				}
				if !strings.Contains(strings.Join(p.Header.Values("Vary"), ","), "Origin") {
					t.Errorf("%s %s: Vary %v", method, origin, p.Header.Values("Vary"))
				}
			}
		}
	})
	t.Run("T20 none comes twice", func(t *testing.T) {
		seen, ids := map[string]bool{}, map[string]bool{}
		for range 300 {
			access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
			id, _ := claimsOf(t, access)["jti"].(string)
			if seen[access] || ids[id] || len(id) < 22 || ids[id[:6]] {
				t.Fatalf("again: %s %s", access, id)
			}
			seen[access], ids[id], ids[id[:6]] = true, true, true
		}
	})
	t.Run("T22 64 KiB and one byte", func(t *testing.T) {
		const most = 100 * time.Millisecond * raceFactor
		if took := quickest.Of(3, most, func() {
			p := post(t, g, "grant_type="+strings.Repeat("a", 64<<10-10))
			wantOAuth(t, p, http.StatusRequestEntityTooLarge, "invalid_request")
		}); took > most {
			t.Errorf("took %v", took)
		}
		wantOAuth(t, post(t, g, "grant_type="+strings.Repeat("a", 64<<10-11)), http.StatusUnauthorized, "invalid_client")
	})
	t.Run("T23 5,000 parameters", func(t *testing.T) {
		var body strings.Builder
		for i := range 5000 {
			body.WriteString("p" + strconv.Itoa(i) + "=1&")
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		const most = 20 * time.Millisecond * raceFactor
		took := quickest.Of(20, most, func() {
			wantOAuth(t, post(t, g, body.String()), http.StatusBadRequest, "invalid_request")
		})
		runtime.GC()
		runtime.ReadMemStats(&after)
		if took > most {
			t.Errorf("took %v", took)
		}
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 2<<20 {
			t.Errorf("the heap grew by %d bytes", grown)
		}
	})
}

func TestGuessingSecretsIsThrottled(t *testing.T) { // T21
	g, _ := startSite(t, trustingSite)
	full := credentialsForm.Encode()
	try := func(secret, from string) harness.Page {
		return post(t, g, full, "Authorization", basic(machine.ID, secret), "X-Forwarded-For", from)
	}
	for range 10 {
		wantOAuth(t, try(web.Secret, "203.0.113.7"), http.StatusUnauthorized, "invalid_client")
	}
	p := try(web.Secret, "203.0.113.7")
	wantOAuth(t, p, http.StatusTooManyRequests, "slow_down")
	if n, err := strconv.Atoi(p.Header.Get("Retry-After")); err != nil || n < 1 || n > 60 {
		t.Errorf("T21: Retry-After %q", p.Header.Get("Retry-After"))
	}
	t.Run("T21 the right secret is no oracle from there", func(t *testing.T) {
		wantOAuth(t, try(machine.Secret, "203.0.113.7"), http.StatusTooManyRequests, "slow_down")
	})
	t.Run("T21 the right secret passes from elsewhere", func(t *testing.T) {
		wantTokens(t, try(machine.Secret, "203.0.113.8"))
	})
	t.Run("T21 other clients pass from there", func(t *testing.T) {
		wantTokens(t, post(t, g, full, "Authorization", basic(web.ID, web.Secret), "X-Forwarded-For", "203.0.113.7"))
	})
	t.Run("T21 another address by its own word does not help", func(t *testing.T) {
		g.Load(t, site) // no proxy is trusted; what was counted stays
		for range 11 {
			p = try(web.Secret, somebody())
		}
		wantOAuth(t, p, http.StatusTooManyRequests, "slow_down")
	})
}

func TestStoreOutageAtTheTokenEndpoint(t *testing.T) { // T24
	g, _, m := startFaulty(t)
	_, refresh := tokens(t, g, web)
	fresh := code(t, g, "web")
	requests := map[string]func() harness.Page{
		"T24 authorization_code": func() harness.Page { return g.Token(t, web, exchange(fresh, callback)) },
		"T24 refresh_token": func() harness.Page {
			return g.Token(t, web, refreshWith(refresh))
		},
	}
	m.Fail(errors.New("the store is away"))
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			p := request()
			wantOAuth(t, p, http.StatusServiceUnavailable, "temporarily_unavailable")
			if n, err := strconv.Atoi(p.Header.Get("Retry-After")); err != nil || n < 1 {
				t.Errorf("Retry-After %q", p.Header.Get("Retry-After"))
			}
			if strings.Contains(p.Body, "the store is away") {
				t.Errorf("the cause leaves: %s", p.Body)
			}
		})
	}
	m.Fail(nil)
	for name, request := range requests {
		t.Run(name+" afterwards", func(t *testing.T) { wantTokens(t, request()) })
	}
}
