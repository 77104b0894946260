package authserver_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

func codeKey(code string) store.Key { return store.Key{Kind: store.KindCode, ID: secret.Digest(code)} }

func TestQRCodeIsScannedConfirmedAndDelivered(t *testing.T) {
	g := newQRRig(t)
	state := strings.Repeat("s", 4000) + "a b&c=%26+\"é"
	s := g.scanPage(wxRequest().with("state", state))
	s.wantState(408)
	phone := g.browser()
	login := phone.get(confirmURL(s.id))
	g.isLogin(login)
	s.wantState(408)
	p := phone.signIn(login, "ann", annsPassword)
	if p.status != http.StatusSeeOther || p.header.Get("Location") != "/auth/connect/confirm?uuid="+s.id {
		t.Fatalf("after the sign-in: %d %v", p.status, p.header)
	}
	session := phone.cookies["__Host-gatehouse"]
	asks := phone.scan(s)
	for _, shown := range []string{"Shop &lt;wx&gt;", "wx.example", "192.0.2.1", "snsapi_login", "ann"} { // B22
		if !strings.Contains(asks.body, shown) {
			t.Errorf("%s is not shown: %s", shown, asks.body)
		}
	}
	// The picture in the page's header has two-digit sizes of its own.
	_, main, _ := strings.Cut(asks.body, "<main>")
	if main == "" || strings.Contains(main, ">"+s.number+"<") || strings.Contains(main, `"`+s.number+`"`) {
		t.Error("the number is shown where it must be typed")
	}
	if code := s.wantState(404); code != "" { // B21
		t.Errorf("a code before anything is confirmed: %q", code)
	}
	if p := s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id); strings.Contains(p.body, ">ann<") {
		t.Error("the first device shows who scanned")
	}
	s.wantState(404, "last", "404")
	g.isDone(phone.submit(asks, "number", s.number, "decision", "confirm"), "")
	code := s.wantState(405, "last", "404")
	if again := s.wantState(405); again != code || len(code) != 43 {
		t.Errorf("delivered again: %q, first %q", again, code)
	}
	v := g.aCode(code)
	if v.Dialect != store.DialectVariantB || v.Client != "wx" || v.Subject != "u1" || v.RedirectURI != wxRedirect ||
		!slices.Equal(v.Scopes, []string{"snsapi_login"}) || !v.Expires.Equal(g.now().Add(time.Minute)) || v.State != store.CodeIssued {
		t.Errorf("the code is %+v", v)
	}
	q := g.backPlain(s.get(tokenIssuer+"/connect/qrconnect?uuid="+s.id), http.StatusFound, wxRedirect, "code", "state")
	if q.Get("code") != code || q.Get("state") != state {
		t.Errorf("the redirect: %v", q)
	}
	if phone.cookies["__Host-gatehouse"] != session || s.cookies["__Host-gatehouse"] != "" { // B32
		t.Error("a session changed places")
	}
	if strings.Contains(g.log.String(), s.id) || strings.Contains(g.log.String(), code) { // B33
		t.Error("a ticket or code in the log")
	}
	if p := s.do(http.MethodGet, tokenIssuer+"/connect/l/qrconnect?uuid="+s.id, ""); p.body != "window.wx_errcode=405;window.wx_code='"+code+"';" ||
		p.header.Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the same as a script: %v %s", p.header, p.body)
	}
}

func TestFinishedCodeIsNotDeliveredAgain(t *testing.T) {
	g := newQRRig(t)
	for name, end := range map[string]func(code string){
		"it was redeemed": func(code string) {
			rec, err := g.store.Get(t.Context(), codeKey(code))
			g.must(err)
			v, _ := g.aCode(code).Claim("x")
			rec.Value = must(store.Encode(&v))
			_, err = g.store.Swap(t.Context(), rec)
			g.must(err)
		},
		"it has expired":             func(string) { g.pass(61 * time.Second) },
		"its record is gone as well": func(code string) { g.pass(61 * time.Second); g.must(g.store.Delete(t.Context(), codeKey(code))) },
	} {
		t.Run(name, func(t *testing.T) {
			g.t = t
			s := g.confirmed(wxRequest())
			end(s.wantState(405))
			s.wantState(402)
			g.isError(s.get(tokenIssuer+"/connect/qrconnect?uuid="+s.id), http.StatusBadRequest)
		})
	}
}

func TestSignOutBeforeDeliveryVoidsTheConfirmation(t *testing.T) {
	g := newQRRig(t)
	s := g.scanPage(wxRequest())
	phone := g.phone()
	phone.submit(phone.scan(s), "number", s.number, "decision", "confirm")
	g.must(g.server.EndSubject(t.Context(), "u1"))
	if code := s.wantState(402); code != "" {
		t.Error(code)
	}
	for _, v := range codesOf(t, g.store.Memory, "u1") {
		if v.State == store.CodeIssued {
			t.Errorf("a code lives: %+v", v)
		}
	}
}

func TestOnlyTheRightNumberConfirms(t *testing.T) {
	g := newQRRig(t)
	phone := g.phone()
	wrong := func(right string) string {
		if right == "11" {
			return "12"
		}
		return "11"
	}
	t.Run("a wrong one denies, and there is no second try", func(t *testing.T) {
		g.t = t
		s := g.scanPage(wxRequest())
		asks := phone.scan(s)
		g.isDone(phone.submit(asks, "number", wrong(s.number), "decision", "confirm"), "")
		s.wantState(403)
		g.isDone(phone.submit(asks, "number", s.number, "decision", "confirm"), "")
		s.wantState(403)
		q := g.backPlain(s.get(tokenIssuer+"/connect/qrconnect?uuid="+s.id), http.StatusFound, wxRedirect, "error", "state")
		if q.Get("error") != "access_denied" || q.Get("state") != "S" {
			t.Error(q)
		}
	})
	t.Run("none is a slip", func(t *testing.T) {
		g.t = t
		s := g.scanPage(wxRequest())
		if p := phone.submit(phone.scan(s), "decision", "confirm"); p.status != http.StatusBadRequest || !strings.Contains(p.body, `name="number"`) {
			t.Fatalf("%d %s", p.status, p.body)
		}
		s.wantState(404)
	})
	t.Run("denying needs none", func(t *testing.T) {
		g.t = t
		s := g.scanPage(wxRequest())
		asks := phone.scan(s)
		g.isDone(phone.submit(asks, "decision", "deny"), "")
		s.wantState(403)
		g.isDone(phone.submit(asks, "number", s.number, "decision", "confirm"), "")
		s.wantState(403)
	})
	t.Run("neither yes nor no", func(t *testing.T) {
		g.t = t
		s := g.scanPage(wxRequest())
		asks := phone.scan(s)
		for _, word := range []string{"", "CONFIRM", "allow"} {
			g.isError(phone.submit(asks, "number", s.number, "decision", word), http.StatusBadRequest)
		}
		s.wantState(404)
	})
}

// What happened while a connection was interrupted is not kept for the time that a poll hangs.
func TestMissedTicketStateIsReturnedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newConnectRig(t)
		s := g.scanPage(wxRequest())
		told := func(want int) {
			t.Helper()
			begin := time.Now()
			s.wantState(want, "last", "500")
			if took := time.Since(begin); took > 0 {
				t.Errorf("%d after %v", want, took)
			}
		}
		told(408)
		phone := g.phone()
		asks := phone.scan(s)
		told(404)
		phone.submit(asks, "decision", "deny")
		told(403)
	})
}

func TestOnlyTheFormConfirms(t *testing.T) { // B22
	g := newQRRig(t)
	s := g.scanPage(wxRequest())
	phone := g.phone()
	asks := phone.scan(s)
	good := asks.form("number", s.number, "decision", "confirm")
	post := tokenIssuer + "/connect/confirm"
	without := func(name, value string) string {
		v := url.Values{}
		for k := range good {
			v.Set(k, good.Get(k))
		}
		v.Set(name, value)
		return v.Encode()
	}
	stranger := g.phone()
	for name, p := range map[string]page{
		"without the token":                phone.do(http.MethodPost, post, without("token", "")),
		"with another token":               phone.do(http.MethodPost, post, without("token", stranger.scanForm(t, s).Get("token"))),
		"with a request of nobody":         phone.do(http.MethodPost, post, without("request", s.id)),
		"from another site":                phone.do(http.MethodPost, post, good.Encode(), "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"),
		"from another browser with a user": stranger.do(http.MethodPost, post, good.Encode()),
		"from a browser without cookies":   g.browser().do(http.MethodPost, post, good.Encode()),
	} {
		g.isError(p, http.StatusForbidden)
		if state, _ := s.poll("last", "404"); state != 404 {
			t.Errorf("%s: the poll says %d", name, state)
		}
	}
	g.isPage(phone.get(confirmURL(s.id) + "&decision=confirm&number=" + s.number))
	s.wantState(404, "last", "404")
	for _, method := range []string{"PUT", "DELETE", "HEAD", "PATCH"} {
		if p := phone.do(method, confirmURL(s.id), ""); p.status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, p.status)
		}
	}
}

// scanForm is the form of a ticket of this browser's own.
func (b *tab) scanForm(t *testing.T, _ screen) url.Values {
	t.Helper()
	own := b.g.scanPage(wxRequest())
	return b.scan(own).form()
}

func TestFirstScannerDecides(t *testing.T) {
	g := newQRRig(t)
	s := g.scanPage(wxRequest())
	phone, second := g.phone(), g.phone()
	asks := phone.scan(s)
	g.isError(second.get(confirmURL(s.id)), http.StatusConflict)
	phone.scan(s)
	g.isDone(phone.submit(asks, "number", s.number, "decision", "confirm"), "")
	g.isError(second.get(confirmURL(s.id)), http.StatusConflict)
	g.isDone(phone.get(confirmURL(s.id)), "")
	s.wantState(405)
	t.Run("who signs in anew is another", func(t *testing.T) {
		g.t = t
		s := g.scanPage(wxRequest())
		asks := phone.scan(s)
		phone.signIn(phone.get(authorizeURL(webRequest().with("prompt", "login"))), "ann", annsPassword)
		g.isError(phone.submit(asks, "number", s.number, "decision", "confirm"), http.StatusConflict)
		s.wantState(404)
	})
}

func TestLockedUserCannotConfirmAScan(t *testing.T) {
	g := newQRRig(t)
	s := g.scanPage(wxRequest())
	phone := g.phone()
	asks := phone.scan(s)
	g.users.SetLocked("u1", true)
	g.isLogin(phone.get(confirmURL(s.id)))
	g.isLogin(phone.submit(asks, "number", s.number, "decision", "confirm"))
	s.wantState(404)
}

func TestTicketsExpire(t *testing.T) { // B25
	g := newQRRig(t)
	t.Run("unscanned after two minutes", func(t *testing.T) {
		g.t = t
		s, phone := g.scanPage(wxRequest()), g.phone()
		g.pass(119 * time.Second)
		s.wantState(408)
		g.pass(2 * time.Second)
		s.wantState(402)
		g.isError(phone.get(confirmURL(s.id)), http.StatusGone)
		if p := s.get(tokenIssuer + "/connect/qrconnect?uuid=" + s.id); p.status != http.StatusOK || !strings.Contains(p.body, `data-state="expired"`) {
			t.Errorf("the page: %d %s", p.status, p.body)
		}
	})
	t.Run("undecided after five", func(t *testing.T) {
		g.t = t
		s, phone := g.scanPage(wxRequest()), g.phone()
		asks := phone.scan(s)
		g.pass(299 * time.Second)
		s.wantState(404)
		g.pass(2 * time.Second)
		s.wantState(402)
		g.isError(phone.submit(asks, "number", s.number, "decision", "confirm"), http.StatusGone)
		g.isError(phone.get(confirmURL(s.id)), http.StatusGone)
		s.wantState(402)
	})
	t.Run("undelivered after five", func(t *testing.T) {
		g.t = t
		s := g.confirmed(wxRequest())
		g.pass(301 * time.Second)
		s.wantState(402)
	})
	t.Run("and are nothing a quarter of an hour later", func(t *testing.T) {
		g.t = t
		s, phone := g.scanPage(wxRequest()), g.phone()
		g.pass(16 * time.Minute)
		g.isError(phone.get(confirmURL(s.id)), http.StatusGone)
		if p := s.askOf(s.id); p.status != http.StatusForbidden {
			t.Errorf("%d", p.status)
		}
	})
}
