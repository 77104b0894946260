package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N07: a client that people have agreed to changes what they agreed to.
func TestClientChangeVoidsConsent(t *testing.T) {
	const to, otherPath, elsewhere = "https://new.example/cb", "https://new.example/other", "https://elsewhere.example/cb"
	g, _ := startRegistering(t, 10)
	register := func(name string, redirects ...string) map[string]any {
		return map[string]any{"redirect_uris": redirects, "client_name": name, "grant_types": []string{"authorization_code", "refresh_token"}, "scope": "read"}
	}
	p := call(t, http.MethodPost, g.ID+"/register", initialToken, register("Notes", to))
	id, access, address := member(t, p, "client_id"), member(t, p, "registration_access_token"), member(t, p, "registration_client_uri")
	change := func(t *testing.T, name string, redirects ...string) {
		t.Helper()
		body := register(name, redirects...)
		body["client_id"] = id
		if p := call(t, http.MethodPut, address, access, body); p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
	}
	b := harness.NewBrowser(t, g.ID)
	b.Authorize(authorizeURL(g, id, "redirect_uri", to), username, password)
	silent := func(t *testing.T, to string) {
		t.Helper()
		wantCode(t, g, b.Get(authorizeURL(g, id, "redirect_uri", to)), to)
		wantCode(t, g, b.Get(authorizeURL(g, id, "redirect_uri", to, "prompt", "none")), to)
	}
	asked := func(t *testing.T, to string, says ...string) {
		t.Helper()
		wantError(t, g, b.Get(authorizeURL(g, id, "redirect_uri", to, "prompt", "none")), to, "consent_required")
		p := b.Get(authorizeURL(g, id, "redirect_uri", to))
		wantPage(t, p, http.StatusOK)
		for _, text := range append(says, `name="decision"`) {
			if !strings.Contains(p.Body, text) {
				t.Errorf("%q is not on the page: %s", text, p.Body)
			}
		}
	}
	silent(t, to)
	t.Run("N07 another name", func(t *testing.T) {
		change(t, "Your bank", to)
		asked(t, to, "Your bank", "new.example")
	})
	t.Run("N07 the name of before", func(t *testing.T) {
		change(t, "Notes", to)
		silent(t, to)
	})
	t.Run("N07 another host", func(t *testing.T) {
		change(t, "Notes", elsewhere)
		asked(t, elsewhere, "elsewhere.example")
	})
	t.Run("N07 a second host", func(t *testing.T) {
		change(t, "Notes", to, elsewhere)
		silent(t, to)
		asked(t, elsewhere, "elsewhere.example")
	})
	t.Run("N07 another path of the same host, which is all that the page says", func(t *testing.T) {
		change(t, "Notes", otherPath)
		silent(t, otherPath)
	})
	t.Run("N07 both, allowed anew", func(t *testing.T) {
		change(t, "Your bank", elsewhere)
		p := b.Get(authorizeURL(g, id, "redirect_uri", elsewhere))
		wantCode(t, g, b.Submit(p, url.Values{"decision": {"allow"}}), elsewhere)
		silent(t, elsewhere)
	})
	t.Run("N07 while the page is open", func(t *testing.T) {
		change(t, "Lottery", elsewhere)
		p := b.Get(authorizeURL(g, id, "redirect_uri", elsewhere))
		change(t, "City hall", elsewhere)
		p = b.Submit(p, url.Values{"decision": {"allow"}})
		wantPage(t, p, http.StatusOK)
		if !strings.Contains(p.Body, "City hall") || !strings.Contains(p.Body, `name="decision"`) {
			t.Errorf("%s", p.Body)
		}
	})
}

// N07: the same for a client of the Caddyfile.
func TestReloadThatChangesTheClientVoidsConsent(t *testing.T) {
	g, _ := start(t)
	b := signedIn(t, g)
	for _, c := range []struct {
		name, old, new, to string
		asked              bool
	}{
		{"nothing", "", "", callback, false},
		{"N07 a name", `name "Web Client"`, `name "Another name"`, callback, true},
		{"N07 another host", "redirect_uri " + callback, "redirect_uri https://moved.example/cb", "https://moved.example/cb", true},
		{"N07 another path", "redirect_uri " + callback, "redirect_uri " + callback + "/2", callback + "/2", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(site, c.old, c.new, 1)
			if changed == site && c.old != "" {
				t.Fatal("the site has no such line")
			}
			g.Load(t, changed)
			p := b.Get(authorizeURL(g, "web", "redirect_uri", c.to))
			if !c.asked {
				wantCode(t, g, p, c.to)
				return
			}
			wantPage(t, p, http.StatusOK)
			if !strings.Contains(p.Body, `name="decision"`) {
				t.Errorf("%s", p.Body)
			}
			wantError(t, g, b.Get(authorizeURL(g, "web", "redirect_uri", c.to, "prompt", "none")), c.to, "consent_required")
		})
	}
}
