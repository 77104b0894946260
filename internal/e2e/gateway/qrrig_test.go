package gateway

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	wxCallback = "https://wx.example/cb"
	wxClients  = `client wx {
			name "Shop"
			variant_b
			secret wx-secret-0123456789-0123456789-0123456789
			redirect_uri https://wx.example/cb
			scopes snsapi_login snsapi_userinfo
		}
		client framed {
			variant_b
			secret framed-secret-0123456789-0123456789-012345
			redirect_uri https://wx.example/cb
			scopes snsapi_login
			frame_origins https://wx.example
		}`
)

// scanner is the site with clients that sign in by a code, behind a proxy.
func scanner(t *testing.T, more ...string) *harness.Gateway {
	t.Helper()
	g, _ := startSite(t, behindProxy, append([]string{"$GLOBAL", wxClients}, more...)...)
	return g
}

// qrURL is a valid request, with parameters changed as authorizeURL does.
func qrURL(g *harness.Gateway, changes ...string) string {
	q := url.Values{"appid": {"wx"}, "redirect_uri": {wxCallback}, "response_type": {"code"}, "scope": {"snsapi_login"}, "state": {"S"}}
	for i := 0; i+1 < len(changes); i += 2 {
		if changes[i+1] == "-" {
			q.Del(changes[i])
		} else {
			q.Set(changes[i], changes[i+1])
		}
	}
	return g.ID + "/connect/qrconnect?" + q.Encode()
}

// screen is a browser with a code on it.
type screen struct {
	t          *testing.T
	g          *harness.Gateway
	b          *harness.Browser
	page       harness.Page
	id, number string
	from       string // the address it began from
}

var (
	screenID     = regexp.MustCompile(`data-poll="/connect/l/qrconnect\?uuid=([A-Za-z0-9_-]{22})"`)
	screenNumber = regexp.MustCompile(`class="digits"[^>]*>([0-9]{2})<`)
)

// newScreen begins as a new browser, from an address of its own.
func newScreen(t *testing.T, g *harness.Gateway, changes ...string) screen {
	t.Helper()
	s := screen{t: t, g: g, b: harness.NewBrowser(t, g.ID), from: somebody()}
	s.page = send(t, s.b, http.MethodGet, qrURL(g, changes...), "", "X-Forwarded-For", s.from, "User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
	id, number := screenID.FindStringSubmatch(s.page.Body), screenNumber.FindStringSubmatch(s.page.Body)
	if s.page.Status != http.StatusOK || id == nil || number == nil {
		t.Fatalf("no page with a code: %d %v %.2000s", s.page.Status, s.page.Header, s.page.Body)
	}
	s.id, s.number = id[1], number[1]
	return s
}

func pollURL(g *harness.Gateway, id, last string) string {
	return g.ID + "/connect/l/qrconnect?f=json&uuid=" + id + "&last=" + last
}

// poll asks once.
func (s screen) poll(last string) harness.Page {
	s.t.Helper()
	return s.b.Get(pollURL(s.g, s.id, last))
}

// state is what a poll says, and the code.
func state(t *testing.T, p harness.Page) (float64, string) {
	t.Helper()
	m := p.JSON(t)
	n, isNumber := m["wx_errcode"].(float64)
	c, isText := m["wx_code"].(string)
	if p.Status != http.StatusOK || !isNumber || !isText || len(m) != 2 || (n == 405) != (c != "") || p.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("no answer to a poll: %d %v %s", p.Status, p.Header, p.Body)
	}
	return n, c
}

func (s screen) wantState(last string, want float64) string {
	s.t.Helper()
	got, c := state(s.t, s.poll(last))
	if got != want {
		s.t.Fatalf("the poll says %v, want %v", got, want)
	}
	return c
}

// copyOf is the same browser in another window: several requests at once.
func copyOf(t *testing.T, g *harness.Gateway, b *harness.Browser) *harness.Browser {
	t.Helper()
	c := harness.NewBrowser(t, g.ID)
	c.Client.Jar = must(cookiejar.New(nil))
	at := must(url.Parse(g.ID))
	c.Client.Jar.SetCookies(at, b.Client.Jar.Cookies(at))
	return c
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// phoneOf is a browser in which a user has signed in.
func phoneOf(t *testing.T, g *harness.Gateway, who string) *harness.Browser {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	p := b.Submit(b.Get(g.ID+"/login"), url.Values{"username": {who}, "password": {password}})
	if p.Status != http.StatusSeeOther {
		t.Fatalf("%d %.300s", p.Status, p.Body)
	}
	return b
}

func confirmURL(g *harness.Gateway, id string) string { return g.ID + "/connect/confirm?uuid=" + id }

// decide scans and answers.
func (s screen) decide(phone *harness.Browser, decision, number string) harness.Page {
	s.t.Helper()
	p := phone.Get(confirmURL(s.g, s.id))
	wantPage(s.t, p, http.StatusOK)
	p = phone.Submit(p, url.Values{"decision": {decision}, "number": {number}})
	wantPage(s.t, p, http.StatusOK)
	if strings.Contains(p.Body, "<form method") {
		s.t.Fatalf("not decided: %s", p.Body)
	}
	return p
}
