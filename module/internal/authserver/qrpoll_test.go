package authserver_test

import (
	"bytes"
	"context"
	"errors"
	"image/png"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

var regexpAgain = regexp.MustCompile(`href="(/auth/connect/qrconnect\?appid=[^"]*)"`)

func TestOnlyTheStartingBrowserCanPoll(t *testing.T) { // B18, B19
	g := newQRRig(t)
	s := g.confirmed(wxRequest())
	other := g.scanPage(wxRequest())
	nobody := g.browser()
	framed := g.browser()
	framed.cookies["__Host-gatehouse-frame"] = s.browserID()
	forged := g.browser()
	forged.cookies["__Host-gatehouse-browser"] = secret.Digest(s.browserID())
	for name, b := range map[string]*tab{"nobody": nobody, "another browser": other.tab, "its cookie by another name": framed, "the digest of its cookie": forged} {
		for _, id := range []string{s.id, secret.ID(), "", "x", strings.Repeat("A", 21) + "B", s.id + "="} {
			p := b.askOf(id)
			if p.status != http.StatusForbidden || p.body != `{"wx_errcode":500,"wx_code":""}` || p.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s, %q: %d %v %s", name, id, p.status, p.header, p.body)
			}
			g.isError(b.get(tokenIssuer+"/connect/qrconnect?uuid="+id), http.StatusForbidden)
			g.pass(7 * time.Second) // guesses are counted
		}
	}
	if p := s.get(tokenIssuer + "/connect/l/qrconnect?uuid=" + s.id + "&uuid=" + other.id); p.status != http.StatusForbidden {
		t.Errorf("two names: %d %s", p.status, p.body)
	}
	for _, site := range []string{"cross-site", "same-site"} {
		if p := s.get(tokenIssuer+"/connect/l/qrconnect?uuid="+s.id, "Sec-Fetch-Site", site); p.status != http.StatusForbidden || p.body != "window.wx_errcode=500;window.wx_code='';" {
			t.Errorf("a script of another site: %d %s", p.status, p.body)
		}
	}
	s.wantState(405)
}

func TestOAuthDeviceCannotPollAsAScreen(t *testing.T) {
	g := newQRRig(t)
	b := g.browser()
	cookie := secret.Token()
	b.cookies["__Host-gatehouse-browser"] = cookie
	tickets := must(crossdevice.New(crossdevice.Config{Store: g.store, Now: g.now}))
	id, _, err := tickets.Begin(t.Context(), store.Ticket{Kind: store.TicketDevice, Client: "web", Poller: secret.Digest(cookie)})
	g.must(err)
	if p := b.askOf(id); p.status != http.StatusForbidden {
		t.Errorf("%d %s", p.status, p.body)
	}
}

func TestPageReloadCreatesANewTicket(t *testing.T) {
	g := newQRRig(t)
	s := g.scanPage(wxRequest())
	same := s.show(s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id))
	if same.id != s.id || same.number != s.number || same.code != s.code {
		t.Error("its own address shows another")
	}
	if next := s.show(s.get(qrURL(wxRequest()))); next.id == s.id {
		t.Error("a new request shows the old one")
	}
	if p := s.do(http.MethodHead, tokenIssuer+"/connect/qrconnect?uuid="+s.id, ""); p.status != http.StatusOK || p.body != "" {
		t.Errorf("HEAD: %d %q", p.status, p.body)
	}
	if p := s.do(http.MethodHead, tokenIssuer+"/connect/qrconnect?uuid="+secret.ID(), ""); p.status != http.StatusForbidden {
		t.Errorf("HEAD of another: %d", p.status)
	}
}

func TestQRImageContainsTheIssuersConfirmAddress(t *testing.T) { // B17
	g := newQRRig(t)
	b := g.browser()
	s := b.show(b.get(qrURL(wxRequest()), "Host", "evil.example", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example"))
	if strings.Contains(s.body, "evil.example") || !strings.Contains(s.body, `href="https://id.example/auth/connect/confirm?uuid=`+s.id+`"`) {
		t.Errorf("%s", s.body)
	}
	p := g.browser().get(tokenIssuer+"/connect/qrcode/"+s.id, "X-Forwarded-Host", "evil.example")
	if p.status != http.StatusOK || p.header.Get("Content-Type") != "image/png" || p.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", p.status, p.header)
	}
	if _, err := png.Decode(bytes.NewReader([]byte(p.body))); err != nil {
		t.Error(err)
	}
	for _, id := range []string{"", "x", s.id + "A", s.id[:21] + "/", strings.Repeat("A", 21) + "B"} {
		if p := g.browser().get(tokenIssuer + "/connect/qrcode/" + id); p.status != http.StatusNotFound {
			t.Errorf("%q: %d", id, p.status)
		}
	}
}

func TestEmbeddedPageHasItsOwnCookie(t *testing.T) {
	g := newQRRig(t)
	request := wxRequest().with("appid", "framed").with("response_type", "").with("login_type", "jssdk")
	for name, c := range map[string]struct {
		self string
		top  string
	}{"default": {"default", "true"}, "false": {"false", "true"}, "left out": {"", "true"}, "true": {"true", "false"}} {
		t.Run("self_redirect "+name, func(t *testing.T) {
			g.t = t
			b := g.browser()
			p := b.get(qrURL(request.with("self_redirect", c.self)))
			if len(p.set) != 1 {
				t.Fatalf("cookies: %v", p.set)
			}
			if k := p.set[0]; !strings.HasPrefix(k.Name, "__Host-gatehouse-frame-") || !k.Secure || !k.HttpOnly || k.SameSite != http.SameSiteNoneMode || !k.Partitioned || k.Path != "/" || k.Domain != "" || k.MaxAge != 0 {
				t.Errorf("cookie: %+v", k)
			}
			if csp := p.header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors https://wx.example https://shop.example") || p.header.Get("X-Frame-Options") != "" {
				t.Errorf("headers: %v", p.header)
			}
			if !strings.Contains(p.body, `data-top="`+c.top+`"`) {
				t.Error(p.body)
			}
			s := b.show(p)
			second := s.show(s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id))
			if !strings.Contains(second.header.Get("Content-Security-Policy"), "frame-ancestors https://wx.example") || len(second.set) != 0 {
				t.Errorf("later: %v", second.header)
			}
			phone := g.phone()
			asks := phone.scan(s)
			phone.submit(asks, "number", s.number, "decision", "confirm")
			code := s.wantState(405)
			p = s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id)
			if c.top == "false" {
				g.backPlain(p, http.StatusFound, wxRedirect, "code", "state")
				return
			}
			if p.status != http.StatusOK || !strings.Contains(p.body, `target="_top" href="`+wxRedirect+`?code=`+code+`&amp;state=S"`) {
				t.Errorf("the way on: %d %v", p.status, regexp.MustCompile(`<a[^>]*onward[^>]*>`).FindString(p.body))
			}
		})
		g.pass(time.Minute)
	}
	t.Run("without listed origins there is no frame", func(t *testing.T) {
		g.t = t
		p := g.browser().get(qrURL(request.with("appid", "wx")))
		if len(p.set) != 2 || !strings.HasPrefix(p.set[0].Name, browserCookie+"-") || p.set[1].Name != lastSignInCookie || !strings.Contains(p.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || p.header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%v", p.header)
		}
	})
	t.Run("nor without the embedded form", func(t *testing.T) {
		g.t = t
		p := g.browser().get(qrURL(wxRequest().with("appid", "framed")))
		if !strings.Contains(p.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") || p.set[0].SameSite != http.SameSiteLaxMode {
			t.Errorf("%v", p.header)
		}
	})
	t.Run("a denial that goes to the window around stays a page", func(t *testing.T) {
		g.t = t
		b, phone := g.browser(), g.phone()
		s := b.show(b.get(qrURL(request)))
		phone.submit(phone.scan(s), "decision", "deny")
		if p := s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id); p.status != http.StatusOK || !strings.Contains(p.body, `data-state="denied"`) {
			t.Errorf("%d %s", p.status, p.body)
		}
	})
}

func TestScriptsAreServed(t *testing.T) {
	g := newQRRig(t)
	for _, name := range []string{"login.js", "wait.js"} {
		p := g.browser().get(tokenIssuer + "/connect/" + name)
		if p.status != http.StatusOK || !strings.HasPrefix(p.header.Get("Content-Type"), "text/javascript") || p.header.Get("ETag") == "" || p.header.Get("Cache-Control") == "no-store" {
			t.Errorf("%s: %d %v", name, p.status, p.header)
		}
	}
}

func TestPollEndsWithItsConfiguration(t *testing.T) { // B30
	var tickets *crossdevice.Tickets
	g := newQRRig(t, func(c *authserver.Config) {
		tickets = must(crossdevice.New(crossdevice.Config{Store: c.Store, Now: c.Now}))
		c.CrossDevice = tickets
	})
	s := g.scanPage(wxRequest())
	answer := make(chan page, 1)
	go func() { answer <- s.clone().askOf(s.id) }()
	select {
	case p := <-answer:
		t.Fatalf("it does not hang: %d %s", p.status, p.body)
	case <-time.After(50 * time.Millisecond):
	}
	tickets.Close()
	select {
	case p := <-answer:
		if p.status != http.StatusOK || p.body != `{"wx_errcode":408,"wx_code":""}` {
			t.Errorf("%d %s", p.status, p.body)
		}
	case <-time.After(time.Second):
		t.Fatal("it hangs on")
	}
}

func (b *tab) clone() *tab {
	c := b.g.browser()
	for name, value := range b.cookies {
		c.cookies[name] = value
	}
	return c
}

func TestNewerPollEndsTheOlder(t *testing.T) {
	g := newQRRig(t, func(c *authserver.Config) {
		c.CrossDevice = must(crossdevice.New(crossdevice.Config{Store: c.Store, Now: c.Now}))
		t.Cleanup(c.CrossDevice.Close)
	})
	s := g.scanPage(wxRequest())
	answers := make(chan page, 2)
	ask := func() { b := s.clone(); go func() { answers <- b.askOf(s.id) }() }
	ask()
	time.Sleep(20 * time.Millisecond)
	ask()
	if p := <-answers; p.body != `{"wx_errcode":408,"wx_code":""}` {
		t.Errorf("%d %s", p.status, p.body)
	}
	phone := g.phone()
	phone.scan(s)
	if p := <-answers; p.body != `{"wx_errcode":404,"wx_code":""}` {
		t.Errorf("%d %s", p.status, p.body)
	}
}

func TestLimitsPerAddress(t *testing.T) {
	t.Run("B28 tickets", func(t *testing.T) {
		g := newQRRig(t)
		b := g.browser()
		for range 20 {
			b.show(b.get(qrURL(wxRequest())))
		}
		for range 100 {
			g.isError(b.get(qrURL(wxRequest())), http.StatusTooManyRequests)
		}
		g.from("192.0.2.2")
		b.show(b.get(qrURL(wxRequest())))
		g.from("192.0.2.1")
		g.pass(time.Minute)
		b.show(b.get(qrURL(wxRequest())))
	})
	t.Run("B27 names of tickets", func(t *testing.T) {
		g := newQRRig(t)
		s, phone := g.scanPage(wxRequest()), g.phone()
		s.wantState(408)
		limited := 0
		for i := range 100 {
			var p page
			switch i % 3 {
			case 0:
				p = phone.get(confirmURL(secret.ID()))
			case 1:
				p = s.askOf(secret.ID())
			default:
				p = s.get(tokenIssuer + "/connect/qrconnect?uuid=" + secret.ID())
			}
			if p.status == http.StatusTooManyRequests {
				limited++
				if p.header.Get("Retry-After") == "" {
					t.Fatal("no Retry-After")
				}
			}
		}
		if limited != 90 {
			t.Errorf("%d of 100 guesses were refused, want all but ten", limited)
		}
		g.pass(time.Minute)
		s.wantState(408)
	})
	t.Run("scans", func(t *testing.T) {
		g := newQRRig(t)
		phone := g.phone()
		for i := range 31 {
			g.from("192.0.2." + string(rune('2'+i/10)))
			s := g.scanPage(wxRequest())
			g.from("192.0.2.9")
			if i < 30 {
				phone.scan(s)
				phone.scan(s) // the same again is no other
			} else {
				g.isError(phone.get(confirmURL(s.id)), http.StatusTooManyRequests)
			}
		}
	})
	t.Run("polls", func(t *testing.T) {
		g := newQRRig(t, func(c *authserver.Config) {
			c.CrossDevice = must(crossdevice.New(crossdevice.Config{Store: c.Store, Now: c.Now, Hold: time.Millisecond}))
		})
		s := g.scanPage(wxRequest())
		for range 240 {
			s.wantState(408)
		}
		if p := s.askOf(s.id); p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") == "" || p.body != `{"wx_errcode":500,"wx_code":""}` {
			t.Errorf("%d %v %s", p.status, p.header, p.body)
		}
	})
	t.Run("polls that hang", func(t *testing.T) {
		g := newQRRig(t, func(c *authserver.Config) {
			c.CrossDevice = must(crossdevice.New(crossdevice.Config{Store: c.Store, Now: c.Now}))
			t.Cleanup(c.CrossDevice.Close)
		})
		var all []screen
		for i := range 51 {
			g.from("192.0.2." + string(rune('2'+i/20)))
			all = append(all, g.scanPage(wxRequest()))
		}
		g.from("192.0.2.9")
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		for _, s := range all[:50] {
			done.Go(func() { s.clone().hang(ctx, s.id) })
		}
		time.Sleep(200 * time.Millisecond)
		if p := all[50].askOf(all[50].id); p.status != http.StatusTooManyRequests || p.header.Get("Retry-After") == "" {
			t.Errorf("%d %s", p.status, p.body)
		}
		stop()
		done.Wait()
	})
}

// hang polls until ctx ends.
func (b *tab) hang(ctx context.Context, id string) {
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, tokenIssuer+"/connect/l/qrconnect?uuid="+id, nil))
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	b.g.server.ServeHTTP(discard{http.Header{}}, r)
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(b []byte) (int, error) { return len(b), nil }

func TestPollAboveWaitingLimitIsRefused(t *testing.T) {
	g := newQRRig(t, func(c *authserver.Config) {
		c.CrossDevice = must(crossdevice.New(crossdevice.Config{Store: c.Store, Now: c.Now, MaxWaiting: 1}))
		t.Cleanup(c.CrossDevice.Close)
	})
	first, second := g.scanPage(wxRequest()), g.scanPage(wxRequest())
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go first.clone().hang(ctx, first.id)
	time.Sleep(50 * time.Millisecond)
	for _, address := range []string{"192.0.2.1", "192.0.2.2"} {
		g.from(address)
		if p := second.askOf(second.id); p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" {
			t.Errorf("%d %v %s", p.status, p.header, p.body)
		}
	}
}

func TestStoreFaultIsNotATicketAnswer(t *testing.T) {
	g := newQRRig(t)
	s, phone := g.scanPage(wxRequest()), g.phone()
	asks := phone.scan(s)
	g.store.Fail(errors.New("away"))
	if p := s.askOf(s.id); p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" || p.body != `{"wx_errcode":500,"wx_code":""}` {
		t.Errorf("%d %v %s", p.status, p.header, p.body)
	}
	g.isError(s.get(qrURL(wxRequest())), http.StatusServiceUnavailable)
	g.isError(s.get(tokenIssuer+"/connect/qrconnect?uuid="+s.id), http.StatusServiceUnavailable)
	g.isError(phone.get(confirmURL(s.id)), http.StatusServiceUnavailable)
	g.isError(phone.submit(asks, "number", s.number, "decision", "confirm"), http.StatusServiceUnavailable)
	g.store.Fail(nil)
	s.wantState(404)
}
