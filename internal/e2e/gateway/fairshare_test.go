package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N06: 20 addresses with 30 pushes each, or 30 with 20 devices each, used up what everybody
// had for a minute.
func TestFewAddressesCannotBlockEverybody(t *testing.T) {
	g := deviceSite(t)
	push := func(by harness.Credentials, ip string) int {
		form := url.Values{
			"response_type": {"code"}, "client_id": {by.ID}, "redirect_uri": {"https://spa.example/cb"}, "scope": {"read"}, "state": {"S"},
			"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
		}
		if by.Secret != "" {
			form.Set("redirect_uri", callback)
		}
		return at(t, g, "/par", by, form, "X-Forwarded-For", ip).Status
	}
	device := func(by harness.Credentials, ip string) int {
		return beginDevice(t, g, by, url.Values{"scope": {"read"}}, "X-Forwarded-For", ip).Status
	}
	for name, c := range map[string]struct {
		begin    func(harness.Credentials, string) int
		anybody  harness.Credentials
		known    harness.Credentials
		made, of int // what an address may do, and the status of success
	}{
		"/par":                  {push, spa, web, 30, http.StatusCreated},
		"/device_authorization": {device, tv, box, 20, http.StatusOK},
	} {
		t.Run("N06 "+name, func(t *testing.T) {
			for i := range 35 {
				for range c.made {
					c.begin(c.anybody, fmt.Sprintf("%d.9.9.9", 10+i))
				}
			}
			for i := range 40 { // and a customer's /48
				c.begin(c.anybody, fmt.Sprintf("2001:db8:7:%x::1", i))
			}
			for _, ip := range []string{"198.51.100.1", "203.0.113.1", "2001:db8:8::1"} {
				if status := c.begin(c.anybody, ip); status != c.of {
					t.Errorf("N06 %s begins for the first time: %d", ip, status)
				}
			}
			if status := c.begin(c.anybody, "10.9.9.9"); status != http.StatusTooManyRequests {
				t.Errorf("N06 who had as many as anybody may: %d", status)
			}
			// Who authenticates has a share that strangers cannot use up.
			for range 50 {
				if status := c.begin(c.known, "10.9.9.9"); status != c.of {
					t.Fatalf("N06 a client with a secret: %d", status)
				}
			}
		})
	}
}

func TestStrangersCannotLockOutAKnownBrowser(t *testing.T) { // N06
	g, _ := startSite(t, behindProxy)
	home, others := newAttempts(t, g), newAttempts(t, g)
	if p := home.try(username, password, "192.0.2.1"); p.Status != http.StatusOK {
		t.Fatalf("%d", p.Status)
	}
	if p := others.try("bob", password, "192.0.2.1"); p.Status != http.StatusOK {
		t.Fatalf("%d", p.Status)
	}
	stranger := newAttempts(t, g)
	for i := range 10 {
		stranger.refused(username, "wrong", fmt.Sprint("198.51.100.", i))
	}
	stranger.refused(username, password, "198.51.100.99")
	others.refused(username, password, "192.0.2.1")
	if p := home.try(username, password, "203.0.113.5"); p.Status != http.StatusOK {
		t.Errorf("N06 the person's own browser: %d", p.Status)
	}
	stranger.refused(username, password, "198.51.100.99") // which opens it for nobody else
	for i := range 10 {
		home.refused(username, "wrong", fmt.Sprint("203.0.113.", i))
	}
	home.refused(username, password, "203.0.113.99") // it has its own ten guesses
}
