package guard

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/internal/token"
)

func TestOnlyForgedTokensAlertAndAnswersAreEqual(t *testing.T) { // L16, S16
	now := noon
	clock := func() time.Time { return now }
	g := build(t, func(c *Config) {
		c.Now = clock
		c.Attempts = lockout.NewBook(100, clock)
		c.Forgeries = lockout.Rule{Limit: 3, Window: time.Minute, Lock: 10 * time.Minute}
		c.ClientIP = func(r *http.Request) string { return r.RemoteAddr }
	})
	from := func(address, auth string) Decision {
		r := request("GET", "/articles", "X-Forwarded-For", strconv.Itoa(time.Now().Nanosecond()))
		if auth != "" {
			r.Header.Set("Authorization", auth)
		}
		r.RemoteAddr = address
		return g.Decide(r)
	}
	for range 50 { // none of these is forged
		for _, auth := range []string{"", "Bearer none", "Bearer read", "Bearer away", "Bearer", "Bearer revoked", "Bearer expired", "Bearer audience", "Bearer issuer"} {
			if d := from("192.0.2.1", auth); d.ForgeryAlarm || d.Status == 429 {
				t.Fatalf("%q: %+v", auth, d)
			}
		}
	}
	alarms := 0
	forge := func(address string, n int) {
		t.Helper()
		for i := range n {
			d := from(address, "Bearer forged"+strconv.Itoa(i))
			if d.Status != 401 || d.Reason != InvalidToken || d.Challenge == "" || d.RetryAfter != 0 {
				t.Fatalf("%d: %+v", i, d)
			}
			if d.ForgeryAlarm {
				alarms++
			}
		}
	}
	forge("192.0.2.1", 100)
	if alarms != 1 {
		t.Fatalf("%d alarms for one address", alarms)
	}
	for auth, want := range map[string]Reason{"Bearer read": Valid, "": NoCredentials, "Bearer none": InsufficientScope, "Bearer away": Unavailable, "Bearer revoked": InvalidToken} {
		if d := from("192.0.2.1", auth); d.Reason != want || d.Status == 429 || d.ForgeryAlarm {
			t.Errorf("%q: %+v", auth, d)
		}
	}
	forge("192.0.2.2", 100)
	now = now.Add(11 * time.Minute)
	forge("192.0.2.1", 100)
	if alarms != 3 {
		t.Errorf("%d alarms, want one more for another address and one more later", alarms)
	}
}

func TestRefusalNamesTheFailedCheck(t *testing.T) { // S08
	g := build(t, nil)
	for raw, want := range map[string]token.Refusal{
		"forged": token.BadSignature, "revoked": token.Revoked, "expired": token.Expired, "issuer": token.WrongIssuer,
		"audience": token.WrongAudience, "endless": token.BadClaims, "garbage": token.OtherRefusal, strings.Repeat("a", 17<<10): token.Malformed,
	} {
		d := g.Decide(request("GET", "/articles", "Authorization", "Bearer "+raw))
		genuine := !want.Forged() && want != token.OtherRefusal
		if d.Reason != InvalidToken || d.Refusal != want || !slices.Contains(token.Refusals, d.Refusal) || (d.Refused != nil) != genuine {
			t.Errorf("%.20s: %+v", raw, d)
		}
	}
}

func TestChallengeNamesTheRulesScopesUnlessHidden(t *testing.T) { // S20
	g := build(t, func(c *Config) {
		c.Otherwise = Token
		c.Hidden = func(scope string) bool { return scope == "admin" }
	})
	for target, want := range map[string]string{
		"GET /articles": `scope="articles:read"`, "POST /articles": `scope="articles:write articles:read"`, "GET /admin": "", "GET /other": "",
	} {
		method, path, _ := strings.Cut(target, " ")
		for _, auth := range []string{"", "Bearer revoked"} {
			d := g.Decide(request(method, path, "Authorization", auth))
			if d.Status != 401 || strings.Contains(d.Challenge, "scope=") != (want != "") || !strings.Contains(d.Challenge, want) {
				t.Errorf("%s %q: %s", target, auth, d.Challenge)
			}
		}
	}
}

func TestUnknownWellKnownDocumentsAreNotFound(t *testing.T) { // S20
	g := build(t, nil)
	for path, want := range map[string]int{
		"/.well-known/openid-configuration": 404, "/.well-known/x/y": 404, "/.well-known/": 404, "/.well-known": 403, "/.Well-Known/x": 403, "/x/.well-known/y": 403,
	} {
		if d := g.Decide(request("GET", path)); d.Status != want || d.Reason != NoRule || d.Allowed {
			t.Errorf("%s: %+v", path, d)
		}
	}
}
