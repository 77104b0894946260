package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S16: clients refresh on a 401 only, and a proxy gives many of them one address. So a token that
// was refused is always answered with 401 and a challenge, however many were before.
func TestRefusedTokensAlwaysGetAChallenge(t *testing.T) {
	g, up, m := startFaulty(t)
	f := newForger(t, g, m)
	from := func(address, token string) harness.Page {
		return send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+token, "X-Forwarded-For", address)
	}
	revoked, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	wantRevoked(t, at(t, g, "/revoke", machine, tokenForm(revoked)))
	now := time.Now().Unix()
	valid := f.token(nil)
	for name, token := range map[string]func(int) string{
		"S16 revoked":      func(int) string { return revoked },
		"S16 expired":      func(i int) string { return f.token(map[string]any{"exp": now - int64(i) - 1}) },
		"S16 garbage":      func(i int) string { return fmt.Sprintf("x.y.z%d", i) },
		"S16 forged":       func(i int) string { return valid[:strings.LastIndex(valid, ".")+1] + fmt.Sprintf("%086d", i) },
		"S16 one forgery":  func(int) string { return valid[:strings.LastIndex(valid, ".")+1] + strings.Repeat("A", 86) },
		"S16 no JWT of us": func(int) string { return "opaque-token-of-somebody-else" },
	} {
		t.Run(name, func(t *testing.T) {
			address := somebody()
			for i := range 80 {
				if p := from(address, token(i)); p.Status != http.StatusUnauthorized {
					t.Fatalf("request %d: %d %s", i+1, p.Status, p.Body)
				}
			}
			// A neighbour's tokens, behind the same address.
			wantChallenge(t, from(address, revoked), up, http.StatusUnauthorized, "invalid_token")
			wantChallenge(t, from(address, token(80)), up, http.StatusUnauthorized, "invalid_token")
			if p := from(address, f.token(nil)); p.Status != http.StatusOK {
				t.Errorf("a valid token from there: %d %s", p.Status, p.Body)
			}
			wantHits(t, up, 1)
		})
	}
}

// S08: the log and the metric say which check failed, the answer does not, and the token is in
// neither.
func TestTokenRefusalReasonIsLogged(t *testing.T) {
	debug := strings.Replace(faultySite, "\tlog {\n\t\toutput discard\n\t}\n", "\tlog {\n\t\toutput file $DIR/default.log\n\t\tlevel DEBUG\n\t}\n", 1)
	g, up, m := startFaultySite(t, debug)
	f := newForger(t, g, m)
	now := time.Now().Unix()
	revoked, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	wantRevoked(t, at(t, g, "/revoke", machine, tokenForm(revoked)))
	valid := f.token(nil)
	claims := func(changes map[string]any) string { return f.token(changes) }
	type given struct {
		token string
		says  map[string]string // fields of the line, by their text
	}
	cases := map[string]given{
		"malformed":      {"opaque-token-of-another-server", map[string]string{"token_length": "30"}},
		"wrong_type":     {f.sign(f.header(map[string]any{"typ": "JWT"}), f.claims), map[string]string{"unverified": "client:web"}},
		"unknown_key":    {f.sign(f.header(map[string]any{"kid": "elsewhere"}), f.claims), map[string]string{"unverified": "kid:elsewhere"}},
		"bad_signature":  {valid[:len(valid)-6] + "AAAAAA", map[string]string{"unverified": "client:web"}},
		"bad_claims":     {claims(map[string]any{"client_id": absent{}}), map[string]string{"unverified": "client:"}},
		"expired":        {claims(map[string]any{"exp": now - 100, "jti": "id-of-the-expired"}), map[string]string{"token_id": "id-of-the-expired", "client": "web"}},
		"not_yet_valid":  {claims(map[string]any{"iat": now + 300}), map[string]string{"client": "web", "tolerated": "60"}},
		"revoked":        {revoked, map[string]string{"client": "machine"}},
		"client_gone":    {claims(map[string]any{"client_id": "nobody"}), map[string]string{"client": "nobody"}},
		"user_gone":      {claims(map[string]any{"sub": "u-3"}), map[string]string{"client": "web"}},
		"wrong_issuer":   {claims(map[string]any{"iss": "https://evil.example"}), map[string]string{"issuer_expected": g.ID, "issuer_found": "https://evil.example"}},
		"wrong_audience": {claims(map[string]any{"aud": []string{"https://b.example"}}), map[string]string{"audience_expected": "https://api.example", "audience_found": "[https://b.example]"}},
	}
	const series = `caddy_gatehouse_guard_refused_tokens_total{check="`
	answers := map[string]bool{}
	for check, c := range cases {
		t.Run("S08 "+check, func(t *testing.T) {
			before := g.Metric(t, series+check+`"}`)
			p := bearer(t, g, "/read", c.token)
			wantChallenge(t, p, up, http.StatusUnauthorized, "invalid_token")
			answers[p.Body+p.Header.Get("Www-Authenticate")] = true
			if got := g.Metric(t, series+check+`"}`); got != before+1 {
				t.Errorf("the metric went from %v to %v", before, got)
			}
			line := refusalLine(t, g, check)
			for field, want := range c.says {
				if got := fmt.Sprint(line[field]); !strings.Contains(got, want) {
					t.Errorf("%s is %q, want %q, in %v", field, got, want, line)
				}
			}
			if check == "expired" {
				latest := time.Since(time.Unix(now-100, 0)).Seconds()
				if ago, _ := line["expired_for"].(float64); ago < 100 || ago > latest {
					t.Errorf("expired_for is %v, want 100 to %v seconds", line["expired_for"], latest)
				}
			}
		})
	}
	if len(answers) != 1 {
		t.Errorf("the answers differ: %v", answers)
	}
	raw, err := os.ReadFile(filepath.Join(g.Dir, "default.log"))
	if err != nil {
		t.Fatal(err)
	}
	for check, c := range cases {
		for n, part := range strings.Split(c.token, ".") {
			if len(part) > 20 && strings.Contains(string(raw), part) {
				t.Errorf("S08 part %d of the token %s is in the log", n+1, check)
			}
		}
	}
}

// refusalLine is the line of the log about a refused token.
func refusalLine(t *testing.T, g *harness.Gateway, check string) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		raw, err := os.ReadFile(filepath.Join(g.Dir, "default.log"))
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(raw)) {
			var line map[string]any
			if json.Unmarshal([]byte(l), &line) == nil && line["msg"] == "token refused" && line["check"] == check {
				return line
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no line about %s", check)
		}
	}
}
