package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// O05, what TestO05AuditTrailSaysWhoDidWhatFromWhere leaves out: the events that an
// operator is woken by.
func TestO05LockoutReuseRevocationAndKeysAreAudited(t *testing.T) {
	g := audited(t, "$TOKENS", "refresh_grace 0s")
	c := newCoder(t, g)
	_, refresh := wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	wantTokens(t, g.Token(t, web, refreshWith(refresh)))
	wantOAuth(t, g.Token(t, web, refreshWith(refresh)), http.StatusBadRequest, "invalid_grant")
	_, refresh = wantTokens(t, g.Token(t, web, exchange(c.code("web"), callback)))
	wantRevoked(t, at(t, g, "/revoke", web, tokenForm(refresh)))
	if p := admin(t, g, http.MethodPost, "keys/rotate", ""); p.Status != http.StatusOK && p.Status != http.StatusCreated {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	guess := newAttempts(t, g)
	for range 10 {
		guess.refused("bob", "wrong", "")
	}
	for event, want := range map[string]map[string]any{
		"refresh_reuse": {"client": "web", "subject": "u-1", "scopes": "read", "ip": "127.0.0.1"},
		"revoke":        {"client": "web", "subject": "u-1", "reason": "refresh_token", "ip": "127.0.0.1"},
		"lockout":       {"subject": "u-2", "ip": "127.0.0.1"},
		"key_rotated":   {},
	} {
		l := trailOf(t, g, event)
		for name, value := range want {
			if field(l, name) != value {
				t.Errorf("O05 %s: %s is %v, want %v", event, name, l[name], value)
			}
		}
		if l["node"] == nil || l["logger"] != "gatehouse.audit" || len(want) > 0 && l["request_id"] == nil {
			t.Errorf("O05 %s: %v", event, l)
		}
		if when, err := time.Parse(time.RFC3339, l["time"].(string)); err != nil || time.Since(when) > time.Minute {
			t.Errorf("O05 %s: time %v", event, l["time"])
		}
	}
	// One lock is one event: eleven guesses must not wake the operator twice.
	guess.refused("bob", "wrong", "")
	locks := 0
	for _, l := range lines(t, g, "audit.log", 1) {
		if l["event"] == "lockout" {
			locks++
		}
	}
	if locks != 1 {
		t.Errorf("O05 %d lockouts", locks)
	}
}

// A line of the trail is one line, whatever a stranger calls himself (CVE-2026-42507,
// CVE-2020-36567: unescaped input in logs).
func TestO05InputCannotForgeAuditLines(t *testing.T) {
	g := audited(t)
	forged := "x\n{\"logger\":\"gatehouse.audit\",\"event\":\"sign_in\",\"subject\":\"u-1\"}\r\n\x1b[2J"
	b := harness.NewBrowser(t, g.ID)
	b.Submit(b.Get(authorizeURL(g, "web")), url.Values{"username": {strings.NewReplacer("\n", "\u2028", "\r", "", "\x1b", "\u202e").Replace(forged)}, "password": {"x"}})
	g.Token(t, harness.Credentials{ID: forged, Secret: "x"}, credentialsForm)
	b.Get(g.ID + "/authorize?client_id=" + url.QueryEscape(forged))
	trailOf(t, g, "sign_in_failed")
	for _, l := range lines(t, g, "audit.log", 1) { // every line is JSON, else this fails
		if l["event"] == "sign_in" || l["subject"] == "u-1" {
			t.Errorf("%v", l)
		}
	}
}
