package authserver_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/store"
)

// newQRRig is a connect rig whose polls hang for a moment only.
func newQRRig(t *testing.T, change ...func(*authserver.Config)) *tokenRig {
	t.Helper()
	return newConnectRig(t, append([]func(*authserver.Config){func(c *authserver.Config) {
		c.CrossDevice = must(crossdevice.New(crossdevice.Config{Store: c.Store, Now: c.Now, Hold: 20 * time.Millisecond}))
		t.Cleanup(c.CrossDevice.Close)
	}}, change...)...)
}

func qrURL(p params) string { return tokenIssuer + "/connect/qrconnect?" + p.encode() }

// screen is a page with a code, and the browser that shows it.
type screen struct {
	*tab
	page
	id, number, code string
}

var (
	pollTag   = regexp.MustCompile(`data-poll="/auth/connect/l/qrconnect\?uuid=([A-Za-z0-9_-]{22})"`)
	numberTag = regexp.MustCompile(`class="digits"[^>]*>([0-9]{2})<`)
	shortTag  = regexp.MustCompile(`>([A-Z]{4}-[A-Z]{4})<`)
)

// show reads a page with a code.
func (b *tab) show(p page) screen {
	b.g.t.Helper()
	id, number, code := pollTag.FindStringSubmatch(p.body), numberTag.FindStringSubmatch(p.body), shortTag.FindStringSubmatch(p.body)
	if p.status != http.StatusOK || id == nil || number == nil || code == nil {
		b.g.t.Fatalf("no page with a code: %d %v %s", p.status, p.header, p.body)
	}
	return screen{b, p, id[1], number[1], code[1]}
}

// scanPage begins as a new browser.
func (g *tokenRig) scanPage(p params) screen {
	g.t.Helper()
	b := g.browser()
	return b.show(b.get(qrURL(p)))
}

func (g *tokenRig) phone() *tab {
	g.t.Helper()
	b := g.browser()
	p := b.signIn(b.get(tokenIssuer+"/login"), "ann", annsPassword)
	if p.status != http.StatusSeeOther {
		g.t.Fatalf("not signed in: %d %s", p.status, p.body)
	}
	return b
}

func confirmURL(id string) string { return tokenIssuer + "/connect/confirm?uuid=" + id }

// scan opens the page behind the code.
func (b *tab) scan(s screen) page {
	b.g.t.Helper()
	p := b.get(confirmURL(s.id))
	if p.status != http.StatusOK || !strings.Contains(p.body, `name="decision" value="confirm"`) || !strings.Contains(p.body, `name="decision" value="deny"`) {
		b.g.t.Fatalf("no page that asks: %d %v %s", p.status, p.header, p.body)
	}
	b.g.isPage(p)
	return p
}

// poll asks as the browser that shows the code.
func (s screen) poll(more ...string) (int, string) {
	s.g.t.Helper()
	return s.pollOf(s.id, more...)
}

// pollOf gives state and code of an answer that is one.
func (b *tab) pollOf(id string, more ...string) (state int, code string) {
	b.g.t.Helper()
	p := b.askOf(id, more...)
	var v struct {
		State *int    `json:"wx_errcode"`
		Code  *string `json:"wx_code"`
	}
	if p.status != http.StatusOK || json.Unmarshal([]byte(p.body), &v) != nil || v.State == nil || v.Code == nil ||
		p.header.Get("Content-Type") != "application/json; charset=utf-8" || p.header.Get("Cache-Control") != "no-store" ||
		p.header.Get("Cross-Origin-Resource-Policy") != "same-origin" || p.header.Get("X-Content-Type-Options") != "nosniff" {
		b.g.t.Fatalf("no answer to a poll: %d %v %s", p.status, p.header, p.body)
	}
	if (*v.State == 405) != (*v.Code != "") {
		b.g.t.Fatalf("state and code: %s", p.body)
	}
	return *v.State, *v.Code
}

func (b *tab) askOf(id string, more ...string) page {
	q := params{"uuid": id, "f": "json"}
	for i := 0; i+1 < len(more); i += 2 {
		q[more[i]] = more[i+1]
	}
	return b.get(tokenIssuer + "/connect/l/qrconnect?" + q.encode())
}

func (s screen) wantState(want int, more ...string) string {
	s.g.t.Helper()
	state, code := s.poll(more...)
	if state != want {
		s.g.t.Fatalf("the poll says %d, want %d", state, want)
	}
	return code
}

// isDone checks how a decision ended.
func (g *tokenRig) isDone(p page, done string) {
	g.t.Helper()
	if p.status != http.StatusOK || strings.Contains(p.body, "<form method") || !strings.Contains(html.UnescapeString(p.body), done) {
		g.t.Fatalf("not the page %q: %d %s", done, p.status, p.body)
	}
	g.isPage(p)
}

// confirmed goes all the way to a ticket that is confirmed.
func (g *tokenRig) confirmed(p params) screen {
	g.t.Helper()
	s := g.scanPage(p)
	phone := g.phone()
	phone.submit(phone.scan(s), "number", s.number, "decision", "confirm")
	return s
}

// aCode reads a code of Variant B out of the store.
func (g *tokenRig) aCode(code string) store.Code {
	g.t.Helper()
	var v store.Code
	_, err := store.Read(g.t.Context(), g.store, codeKey(code), &v)
	g.must(err)
	return v
}
