package authserver_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// framedBy reports who may frame a page: "" for nobody.
func (g *tokenRig) framedBy(p page) string {
	g.t.Helper()
	policy := p.header.Get("Content-Security-Policy")
	_, rest, ok := strings.Cut(policy, "frame-ancestors ")
	who, _, _ := strings.Cut(rest, ";")
	if deny := p.header.Get("X-Frame-Options"); !ok || (deny == "DENY") != (who == "'none'") || strings.Count(policy, "frame-ancestors") != 1 {
		g.t.Fatalf("%q and X-Frame-Options %q", policy, deny)
	}
	return strings.TrimSuffix(who, "'none'")
}

// A page that the browser does not show in its frame tells nobody what went wrong.
func TestFrameErrorsAreShownInTheFrame(t *testing.T) {
	embedded := wxRequest().with("appid", "framed").with("response_type", "").with("login_type", "jssdk")
	const own = "https://wx.example https://shop.example"
	away := func(g *tokenRig) { g.store.Fail(errors.New("away")) }
	often := func(g *tokenRig) {
		for range 20 {
			g.scanPage(embedded)
		}
	}
	for name, c := range map[string]struct {
		p       params
		before  func(*tokenRig)
		header  []string
		status  int
		framers string
	}{
		"no state":             {p: embedded.with("state", ""), status: 400, framers: own},
		"a foreign scope":      {p: embedded.with("scope", "snsapi_login,nonsense"), status: 400, framers: own},
		"too often":            {p: embedded, before: often, status: 429, framers: own},
		"the store is away":    {p: embedded, before: away, status: 503, framers: own},
		"loaded as a picture":  {p: embedded, header: []string{"Sec-Fetch-Dest", "image"}, status: 403, framers: own},
		"no such client":       {p: embedded.with("appid", "nobody"), status: 400},
		"another's address":    {p: embedded.with("redirect_uri", "https://evil.example/cb"), status: 400},
		"a client of no frame": {p: embedded.with("appid", "wx").with("state", ""), status: 400},
		"not the frame's form": {p: wxRequest().with("appid", "framed").with("state", ""), status: 400},
		"too often, no frame":  {p: wxRequest().with("appid", "framed"), before: often, status: 429},
		"store away, no frame": {p: wxRequest().with("appid", "framed"), before: away, status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			g := newQRRig(t)
			if c.before != nil {
				c.before(g)
			}
			p := g.browser().get(qrURL(c.p), c.header...)
			if p.status != c.status || (p.status == 429 || p.status == 503) && p.header.Get("Retry-After") == "" {
				t.Fatalf("%d %v", p.status, p.header)
			}
			if who := g.framedBy(p); who != c.framers {
				t.Errorf("%q may frame it, want %q", who, c.framers)
			}
		})
	}
	t.Run("the form of one browser has no frame", func(t *testing.T) {
		g := newQRRig(t)
		p := g.browser().get(sameBrowserURL(embedded.with("scope", "snsapi_userinfo").with("state", "")))
		if g.isError(p, http.StatusBadRequest); g.framedBy(p) != "" {
			t.Errorf("%v", p.header)
		}
	})
	t.Run("a code that is over", func(t *testing.T) {
		g := newQRRig(t)
		for request, framers := range map[string]string{"framed": own, "wx": ""} {
			s := g.confirmed(embedded.with("appid", request))
			s.wantState(405)
			g.pass(61 * time.Second)
			p := s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id)
			if p.status != http.StatusBadRequest || g.framedBy(p) != framers {
				t.Errorf("%s: %d %v", request, p.status, p.header)
			}
			if request == "framed" {
				if p := g.browser().get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id); p.status != http.StatusForbidden || g.framedBy(p) != "" {
					t.Errorf("to a stranger: %d %v", p.status, p.header)
				}
				g.clients.change("framed", func(c *oauth.Client) { c.RedirectURIs = []string{"https://wx.example/other"} })
				if p := s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id); p.status != http.StatusGone || g.framedBy(p) != "" {
					t.Errorf("of a client that is another: %d %v", p.status, p.header)
				}
			}
		}
	})
}
