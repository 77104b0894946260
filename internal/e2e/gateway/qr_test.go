package gateway

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
)

func TestSignInByScannedQRCode(t *testing.T) {
	g := scanner(t)
	s := newScreen(t, g, "state", "a b&c=%26+\"é")
	t.Run("B17 the picture says the issuer's address and a ticket", func(t *testing.T) {
		want := must(gatewaytest.QRImage(confirmURL(g, s.id)))
		p := send(t, harness.NewBrowser(t, g.ID), http.MethodGet, g.ID+"/connect/qrcode/"+s.id, "", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example;proto=https")
		if p.Status != http.StatusOK || p.Header.Get("Content-Type") != "image/png" || p.Body != string(want) {
			t.Errorf("%d %v", p.Status, p.Header)
		}
		b := harness.NewBrowser(t, g.ID)
		spoofed := send(t, b, http.MethodGet, qrURL(g), "", "X-Forwarded-For", somebody(), "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https", "Forwarded", "host=evil.example;proto=https", "X-Original-Host", "evil.example")
		if spoofed.Status != http.StatusOK || strings.Contains(spoofed.Body, "evil.example") || !strings.Contains(spoofed.Body, `href="`+g.ID+`/connect/confirm?uuid=`) {
			t.Errorf("%d %s", spoofed.Status, spoofed.Body)
		}
	})
	s.wantFrom(408)
	phone := harness.NewBrowser(t, g.ID)
	login := phone.Get(confirmURL(g, s.id))
	wantPage(t, login, http.StatusOK)
	next := phone.Submit(login, url.Values{"username": {username}, "password": {password}})
	if next.Status != http.StatusSeeOther || next.Header.Get("Location") != "/connect/confirm?uuid="+s.id {
		t.Fatalf("%d %v", next.Status, next.Header)
	}
	session := sessionOf(g, phone)
	asks := phone.Get(g.ID + next.Header.Get("Location"))
	t.Run("B22 the page says what is asked, by whom and from where", func(t *testing.T) {
		wantPage(t, asks, http.StatusOK)
		for _, text := range []string{"Shop", "wx.example", s.from, "Firefox", "Linux", "alice", "another device"} {
			if !strings.Contains(strings.ToLower(asks.Body), strings.ToLower(text)) {
				t.Errorf("%s is not there: %s", text, asks.Body)
			}
		}
		if csp := asks.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || asks.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%v", asks.Header)
		}
		phone.Get(confirmURL(g, s.id) + "&decision=confirm&number=" + s.number)
		_, fields := harness.Form(t, asks)
		for name, change := range map[string]func(url.Values) []string{
			"no token":     func(v url.Values) []string { v.Del("token"); return nil },
			"another site": func(url.Values) []string { return []string{"Origin", "https://evil.example"} },
		} {
			v := copied(fields)
			v.Set("decision", "confirm")
			v.Set("number", s.number)
			header := change(v)
			if p := send(t, phone, http.MethodPost, g.ID+"/connect/confirm", v.Encode(), header...); p.Status != http.StatusForbidden {
				t.Errorf("%s: %d", name, p.Status)
			}
		}
	})
	t.Run("B21 a scan tells neither code nor who", func(t *testing.T) {
		s.wantState("", 404)
		if p := s.b.Get(g.ID + "/connect/qrconnect?uuid=" + s.id); strings.Contains(strings.ToLower(p.Body), "alice") || p.Status != http.StatusOK {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	})
	t.Run("another who scans comes too late", func(t *testing.T) {
		if p := phoneOf(t, g, "bob").Get(confirmURL(g, s.id)); p.Status != http.StatusConflict {
			t.Errorf("%d", p.Status)
		}
	})
	answer := make(chan harness.Page, 1)
	hanging := copyOf(t, g, s.b)
	go func() { answer <- hanging.Get(pollURL(g, s.id, "404")) }()
	time.Sleep(100 * time.Millisecond)
	pressed := time.Now()
	wantPage(t, phone.Submit(asks, url.Values{"decision": {"confirm"}, "number": {s.number}}), http.StatusOK)
	said, c := state(t, <-answer)
	if said != 405 || time.Since(pressed) > time.Second {
		t.Fatalf("the hanging poll says %v after %v", said, time.Since(pressed))
	}
	t.Run("B18, B19 who knows the ticket alone is told nothing", func(t *testing.T) {
		for name, b := range map[string]*harness.Browser{"no cookie": harness.NewBrowser(t, g.ID), "its own cookie": newScreen(t, g).b, "the phone": phone} {
			for _, id := range []string{s.id, gatewaytest.ID()} {
				p := send(t, b, http.MethodGet, pollURL(g, id, ""), "", "X-Forwarded-For", somebody())
				if p.Status != http.StatusForbidden || strings.Contains(p.Body, c) || p.Body != `{"wx_errcode":500,"wx_code":""}` {
					t.Errorf("%s: %d %s", name, p.Status, p.Body)
				}
				if p := send(t, b, http.MethodGet, g.ID+"/connect/qrconnect?uuid="+id, "", "X-Forwarded-For", somebody()); p.Status != http.StatusForbidden {
					t.Errorf("%s, the page: %d", name, p.Status)
				}
			}
		}
	})
	if again := s.wantState("404", 405); again != c {
		t.Errorf("delivered again: another code")
	}
	back := s.b.Get(g.ID + "/connect/qrconnect?uuid=" + s.id)
	if want := wxCallback + "?code=" + c + "&state=" + strings.ReplaceAll(url.QueryEscape("a b&c=%26+\"é"), "+", "%20"); back.Status != http.StatusFound || back.Header.Get("Location") != want {
		t.Errorf("%d %v, want %s", back.Status, back.Header, want)
	}
	t.Run("B32 the phone's session is as it was", func(t *testing.T) {
		if sessionOf(g, phone) != session || session == "" || sessionOf(g, s.b) != "" {
			t.Error("a session changed places")
		}
		wantPage(t, phone.Get(g.ID+"/account"), http.StatusOK)
	})
	t.Run("a denial ends it", func(t *testing.T) {
		s := newScreen(t, g)
		s.decide(phone, "deny", "")
		s.wantState("", 403)
		if p := s.b.Get(g.ID + "/connect/qrconnect?uuid=" + s.id); p.Header.Get("Location") != wxCallback+"?error=access_denied&state=S" {
			t.Errorf("%d %v", p.Status, p.Header)
		}
	})
}

// wantFrom is wantState for a ticket that has not changed, without the time a poll takes:
// its page says the same.
func (s screen) wantFrom(want int) {
	s.t.Helper()
	word := map[int]string{408: "waiting", 404: "scanned"}[want]
	if p := s.b.Get(s.g.ID + "/connect/qrconnect?uuid=" + s.id); p.Status != http.StatusOK || !strings.Contains(p.Body, `data-state="`+word+`"`) {
		s.t.Fatalf("not %s: %d %.2000s", word, p.Status, p.Body)
	}
}

// sessionOf is a browser's session cookie, "" for none.
func sessionOf(g *harness.Gateway, b *harness.Browser) string {
	for _, c := range b.Client.Jar.Cookies(must(url.Parse(g.ID))) {
		if c.Name == "gatehouse" || c.Name == "__Host-gatehouse" {
			return c.Value
		}
	}
	return ""
}

func TestB15CallbackIsComparedExactly(t *testing.T) {
	g := scanner(t)
	for name, address := range map[string]string{
		"another path": wxCallback + "/x", "another host": "https://evil.example/cb", "a query": wxCallback + "?x=1", "another case": "https://wx.example/CB",
		"nothing": "", "another scheme": "http://wx.example/cb", "a user": "https://x@wx.example/cb", "another port": "https://wx.example:444/cb",
	} {
		for _, path := range []string{"/connect/qrconnect", "/connect/oauth2/authorize"} {
			p := harness.NewBrowser(t, g.ID).Get(strings.Replace(qrURL(g, "redirect_uri", address, "scope", "snsapi_userinfo"), "/connect/qrconnect", path, 1))
			if p.Status != http.StatusBadRequest {
				t.Errorf("%s at %s: %d", name, path, p.Status)
			}
			wantPage(t, p, http.StatusBadRequest)
		}
	}
}

// Each of these waits, so they wait together.
func TestPollsThatHang(t *testing.T) {
	g := scanner(t)
	t.Run("B29 a client that goes away leaves nothing behind", func(t *testing.T) {
		const many = 40
		screens := make([]screen, many)
		for i := range screens {
			screens[i] = newScreen(t, g)
		}
		http.DefaultClient.CloseIdleConnections()
		time.Sleep(100 * time.Millisecond)
		before := runtime.NumGoroutine()
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		for _, s := range screens {
			done.Go(func() {
				// A connection of its own, which its end closes.
				client := &http.Client{Jar: s.b.Client.Jar, Transport: &http.Transport{DisableKeepAlives: true}}
				r := must(http.NewRequestWithContext(ctx, http.MethodGet, pollURL(g, s.id, ""), nil))
				if answer, err := client.Do(r); err == nil {
					_ = answer.Body.Close()
					t.Errorf("it did not hang: %d", answer.StatusCode)
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		if during := runtime.NumGoroutine(); during < before+2*many {
			t.Errorf("%d goroutines with %d polls, %d before", during, many, before)
		}
		stop()
		done.Wait()
		end := time.Now().Add(time.Second)
		for runtime.NumGoroutine() > before+5 && time.Now().Before(end) {
			time.Sleep(10 * time.Millisecond)
		}
		if after := runtime.NumGoroutine(); after > before+5 {
			t.Errorf("%d goroutines a second later, %d before", after, before)
		}
	})
	t.Run("B27 a thousand guesses", func(t *testing.T) {
		phone, from := phoneOf(t, g, username), somebody()
		refused := 0
		for i := range 1000 {
			address := confirmURL(g, gatewaytest.ID())
			if i%2 == 1 {
				address = pollURL(g, gatewaytest.ID(), "")
			}
			p := send(t, phone, http.MethodGet, address, "", "X-Forwarded-For", from)
			switch p.Status {
			case http.StatusTooManyRequests:
				refused++
			case http.StatusGone, http.StatusForbidden:
			default:
				t.Fatalf("%d %s", p.Status, p.Body)
			}
		}
		if refused < 970 { // ten a minute, and they take less than three
			t.Errorf("%d of 1,000 were refused", refused)
		}
	})
	t.Run("B28 ten thousand tickets", func(t *testing.T) {
		from, began := somebody(), time.Now()
		var made, refused atomic.Int64
		var done sync.WaitGroup
		for range 4 {
			done.Go(func() {
				b, own := harness.NewBrowser(t, g.ID), new(http.Transport) // keeps a connection for itself
				defer own.CloseIdleConnections()
				b.Client.Transport = own
				for range 2500 {
					switch p := send(t, b, http.MethodGet, qrURL(g), "", "X-Forwarded-For", from); p.Status {
					case http.StatusOK:
						made.Add(1)
					case http.StatusTooManyRequests:
						refused.Add(1)
					default:
						t.Errorf("%d %s", p.Status, p.Body)
					}
				}
			})
		}
		done.Wait()
		if most := 20 * (1 + int64(time.Since(began)/time.Minute)); made.Load() > most || made.Load()+refused.Load() != 10_000 {
			t.Errorf("%d were made, %d refused", made.Load(), refused.Load())
		}
	})
}

// B26
func TestPollHangsFor25Seconds(t *testing.T) {
	g := startApart(t, behindProxy, "$GLOBAL", wxClients)
	s := newScreen(t, g)
	answered := make(chan harness.Page, 1)
	var took time.Duration
	go func() {
		began := time.Now()
		p := s.poll("408")
		took = time.Since(began)
		answered <- p
	}()
	t.Parallel()
	select {
	case p := <-answered:
		if got, _ := state(t, p); got != 408 || took < 24*time.Second || took > 30*time.Second {
			t.Errorf("the poll says %v after %v", got, took)
		}
	case <-time.After(31 * time.Second):
		t.Error("it is not answered")
	}
}

func TestB30TicketSurvivesReloadAndRestart(t *testing.T) {
	g := scanner(t)
	s := newScreen(t, g)
	answer := make(chan harness.Page, 1)
	hanging := copyOf(t, g, s.b)
	go func() { answer <- hanging.Get(pollURL(g, s.id, "")) }()
	time.Sleep(200 * time.Millisecond)
	reloaded := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(reloaded)
		g.Load(t, strings.Replace(behindProxy, `name "Test ID"`, `name "Test ID 2"`, 1))
	}()
	got, _ := state(t, <-answer)
	if took := time.Since(began); got != 408 || took > time.Second {
		t.Errorf("the poll says %v after %v", got, took)
	}
	<-reloaded
	phone := phoneOf(t, g, username)
	wantPage(t, phone.Get(confirmURL(g, s.id)), http.StatusOK)
	s.wantState("", 404)
	g.Load(t, "{\n"+harness.Quiet+"\n}\n") // all of it stops, the store is closed
	g.Load(t, behindProxy)
	s.decide(phone, "confirm", s.number)
	if c := s.wantState("", 405); c == "" {
		t.Error("no code")
	}
}

func TestB33NoLogContainsATicketOrCode(t *testing.T) {
	g := logged(t, "$GLOBAL", wxClients)
	s := newScreen(t, g, "state", "state-canary")
	phone := phoneOf(t, g, username)
	s.decide(phone, "confirm", s.number)
	c := s.wantState("", 405)
	s.b.Get(g.ID + "/connect/qrcode/" + s.id)
	s.b.Get(g.ID + "/connect/qrconnect?uuid=" + s.id)
	harness.NewBrowser(t, g.ID).Get(pollURL(g, s.id, ""))
	harness.NewBrowser(t, g.ID).Get(confirmURL(g, s.id))
	lines(t, g, "id.log", 8)
	secrets := map[string]string{"the ticket": s.id, "the code": c, "the state": "state-canary"}
	for who, b := range map[string]*harness.Browser{"the screen": s.b, "the phone": phone} {
		for _, k := range b.Client.Jar.Cookies(must(url.Parse(g.ID))) {
			secrets[k.Name+" of "+who] = k.Value
		}
	}
	for _, name := range []string{"id.log", "default.log"} {
		raw, err := os.ReadFile(filepath.Join(g.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			for what, value := range secrets {
				if strings.Contains(line, value) {
					t.Errorf("%s is in %s: %s", what, name, line)
				}
			}
		}
	}
}

func TestSiteFrame(t *testing.T) {
	g := scanner(t)
	s := newScreen(t, g, "appid", "framed", "login_type", "jssdk", "response_type", "-", "self_redirect", "false")
	if csp := s.page.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors https://wx.example;") && !strings.HasSuffix(csp, "frame-ancestors https://wx.example") || s.page.Header.Get("X-Frame-Options") != "" {
		t.Errorf("%v", s.page.Header)
	}
	s.decide(phoneOf(t, g, username), "confirm", s.number)
	s.wantState("", 405)
	p := harness.NewBrowser(t, g.ID).Get(g.ID + "/connect/login.js")
	if p.Status != http.StatusOK || p.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" {
		t.Errorf("%d %v", p.Status, p.Header)
	}
}
