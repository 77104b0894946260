package webui

import (
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

func qrPage(t *testing.T, v QRView) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	newPages(t, Config{}).QR(w, 200, v)
	return w
}

func TestQRPageCSPAllowsOnlyItsScript(t *testing.T) {
	framed := qrView("en", "waiting")
	framed.Frames = []string{"https://portal.example", "http://localhost:3000", "https://[2001:db8::1]:8443"}
	scriptless := qrView("en", "waiting")
	scriptless.Script = ""
	const script = "; script-src https://auth.example/id/connect/wait.js; connect-src https://auth.example/id/connect/l/qrconnect"
	for _, c := range []struct {
		name            string
		view            QRView
		ends, mayNot    string
		frames, options string
	}{
		{"of a window", qrView("en", "waiting"), script, "'self';", "'none'", "DENY"},
		{"of a frame", framed, script, "frame-ancestors 'none'", "https://portal.example http://localhost:3000 https://[2001:db8::1]:8443", ""},
		{"without script", scriptless, "'none'", "script-src", "'none'", "DENY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := qrPage(t, c.view).Header()
			policy := h.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || !strings.HasSuffix(policy, c.ends) || strings.Contains(policy, "'unsafe") ||
				strings.Contains(strings.Replace(policy, "img-src 'self'", "", 1), c.mayNot) {
				t.Error(policy)
			}
			if !strings.Contains(policy, "; frame-ancestors "+c.frames) {
				t.Errorf("%s does not name who may frame it", policy)
			}
			if got := h.Get("X-Frame-Options"); got != c.options {
				t.Errorf("X-Frame-Options %q", got)
			}
		})
	}
}

func TestQRPageWithForeignAddressesIsNotRendered(t *testing.T) { // B17
	for name, spoil := range map[string]func(*QRView){
		"image":               func(v *QRView) { v.Image = "//evil.example/x" },
		"poll":                func(v *QRView) { v.Poll = "https://evil.example/" },
		"poll in the policy":  func(v *QRView) { v.Poll = "/a;script-src%20*?uuid=a" },
		"script":              func(v *QRView) { v.Script = "//evil.example/wait.js" },
		"script in policy":    func(v *QRView) { v.Script = "/wait.js 'unsafe-inline'" },
		"refresh":             func(v *QRView) { v.Refresh = "//evil.example" },
		"again":               func(v *QRView) { v.Again = "javascript:alert(1)" },
		"address":             func(v *QRView) { v.Address = "/connect/confirm" },
		"address of a scheme": func(v *QRView) { v.Address = "javascript:alert(1)" },
		"host in the policy":  func(v *QRView) { v.Address = "https://auth.example;x/confirm" },
		"entry":               func(v *QRView) { v.Entry = "javascript:alert(1)" },
		"redirect":            func(v *QRView) { v.Redirect = "JavaScript:alert(1)" },
		"redirect data":       func(v *QRView) { v.Redirect = "data:text/html,x" },
		"no redirect":         func(v *QRView) { v.Redirect = "" },
		"state":               func(v *QRView) { v.State = "pending" },
		"frame":               func(v *QRView) { v.Frames = []string{"https://portal.example", "*"} },
		"frame in the policy": func(v *QRView) { v.Frames = []string{"https://a.example; script-src *"} },
		"frame with a path":   func(v *QRView) { v.Frames = []string{"https://a.example/x"} },
		"frame of any host":   func(v *QRView) { v.Frames = []string{"https://*.example"} },
	} {
		t.Run(name, func(t *testing.T) {
			v := qrView("en", "waiting")
			spoil(&v)
			w := qrPage(t, v)
			if w.Code != 500 || strings.Contains(w.Body.String(), "<") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Errorf("%d %s %s", w.Code, w.Header().Get("Content-Security-Policy"), w.Body)
			}
		})
	}
}

func TestErrorPageMayBeFramedByListedOriginsOnly(t *testing.T) {
	p := newPages(t, Config{})
	for name, c := range map[string]struct {
		frames []string
		status int
		policy string
		deny   string
	}{
		"nobody":  {nil, 429, "frame-ancestors 'none'", "DENY"},
		"listed":  {[]string{"https://a.example", "https://b.example:8443"}, 429, "frame-ancestors https://a.example https://b.example:8443", ""},
		"no host": {[]string{"https://a.example", "*"}, 500, "frame-ancestors 'none'", "DENY"},
		"spoiled": {[]string{"https://a.example; script-src *"}, 500, "frame-ancestors 'none'", "DENY"},
	} {
		w := httptest.NewRecorder()
		p.Error(w, 429, ErrorView{Code: "too_many", Frames: c.frames})
		h := w.Header()
		if w.Code != c.status || !strings.HasSuffix(h.Get("Content-Security-Policy"), "; "+c.policy) || h.Get("X-Frame-Options") != c.deny {
			t.Errorf("%s: %d %q %q", name, w.Code, h.Get("Content-Security-Policy"), h.Get("X-Frame-Options"))
		}
	}
}

func TestCodeAddressKeepsTheStateExactly(t *testing.T) {
	for _, state := range []string{"a&b=c#d", "line\r\nend", "\xff\xfe", "\x00", "语言 ✓", `"'<>`, "+%2B ", strings.Repeat("é&", 2000)} {
		for redirect, want := range map[string]string{
			"https://portal.example/cb":         "https://portal.example/cb?code=",
			"https://portal.example/cb?x=a%20b": "https://portal.example/cb?x=a%20b&code=",
			"app://done":                        "app://done?code=",
		} {
			v := qrView("en", "confirmed")
			v.Redirect, v.ClientState, v.Code = redirect, state, "a+b/c"
			root := parsed(t, qrPage(t, v).Body.String())
			box, link := byID(root, "wait"), byID(root, "onward")
			made := attr(box, "data-before") + "code=" + url.QueryEscape("a+b/c") + attr(box, "data-after")
			if got := attr(link, "href"); !strings.HasPrefix(made, want) || got != made {
				t.Errorf("the script goes to %q, the link to %q", made, got)
			}
			u, err := url.Parse(made)
			if err != nil {
				t.Fatal(err)
			}
			q, err := url.ParseQuery(u.RawQuery)
			if decoded, err := url.PathUnescape(strings.SplitN(u.RawQuery, "&state=", 2)[1]); err != nil || decoded != state {
				t.Errorf("who decodes no plus as a space reads the state %q", decoded)
			}
			if err != nil || q.Get("state") != state || q.Get("code") != "a+b/c" || len(q["state"]) != 1 {
				t.Errorf("%q %v: state %q", u.RawQuery, err, q.Get("state"))
			}
		}
	}
}

func TestQRCodeStateIsAnnouncedInWords(t *testing.T) {
	p := newPages(t, Config{})
	for _, lang := range []string{"en", "zh"} {
		for _, state := range qrStates {
			w := httptest.NewRecorder()
			p.QR(w, 200, qrView(lang, state))
			root := parsed(t, w.Body.String())
			said := byID(root, "state")
			if attr(said, "role") != "status" || attr(said, "aria-live") != "polite" || text(said) != p.texts[lang]["qr."+state] {
				t.Errorf("%s %s: %q", lang, state, text(said))
			}
			for _, other := range append([]string{"offline"}, qrStates...) {
				if got := attr(byID(root, "wait"), "data-say-"+other); got != p.texts[lang]["qr."+other] {
					t.Errorf("%s: the script would say %q for %s", lang, got, other)
				}
			}
			// Without script a page that waits comes again, and one that is over does not.
			refreshes := strings.Contains(w.Body.String(), `<meta http-equiv="refresh" content="5;url=/id/connect/qrconnect?uuid=`)
			if refreshes != (state == "waiting" || state == "scanned") {
				t.Errorf("%s: refreshes itself: %v", state, refreshes)
			}
		}
	}
}

func TestQRCodeIsAlsoALinkAndUserCode(t *testing.T) {
	root := parsed(t, qrPage(t, qrView("en", "waiting")).Body.String())
	page := text(all(root, "main")[0])
	for _, want := range []string{"Sign in to Portal", "WDJB-MJHT", "Open auth.example/id/device on your phone", "47"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if !slices.ContainsFunc(all(root, "a"), func(a *html.Node) bool { return attr(a, "href") == testAddress && attr(a, "rel") == "noopener" }) {
		t.Error("no link to the address")
	}
	if img := all(root, "img"); len(img) != 1 || attr(img[0], "alt") == "" {
		t.Error("the picture of the code has no words")
	}
}

func TestConfirmPageShowsWhoAsksFromWhere(t *testing.T) { // B22
	p := newPages(t, Config{})
	w := httptest.NewRecorder()
	p.Confirm(w, 200, confirmView("en"))
	root := parsed(t, w.Body.String())
	page := text(all(root, "main")[0])
	for _, want := range []string{"Sign in to Portal on another device?", "portal.example", "maria", "Firefox on Linux", "203.0.113.24",
		"1 min ago, at 23:03 UTC", "Read your articles", p.texts["en"]["confirm.elsewhere"], p.texts["en"]["confirm.question"], p.texts["en"]["consent.unverified"]} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	field := byName(root, "number")
	for name, want := range map[string]string{"inputmode": "numeric", "autocomplete": "off", "value": "", "type": "text"} {
		if got := attr(field, name); got != want {
			t.Errorf("number: %s is %q", name, got)
		}
	}
	if _, ok := lookup(field, "required"); !ok {
		t.Error("an empty number would end the request")
	}
}

func TestConfirmAndDenyButtonsAreEqual(t *testing.T) { // RFC 10027: decline at equal prominence
	p := newPages(t, Config{})
	for _, ask := range []bool{true, false} {
		v := confirmView("en")
		v.AskNumber = ask
		w := httptest.NewRecorder()
		p.Confirm(w, 200, v)
		root := parsed(t, w.Body.String())
		buttons := answers(root)
		if len(buttons) != 2 || attr(buttons[0], "value") != "deny" || attr(buttons[1], "value") != "confirm" {
			t.Fatal("two buttons, to deny and to confirm")
		}
		// Enter in the field confirms, as the wrong number it may be; it must not deny.
		if enter := byClass(root, "default"); (enter != nil) != ask || ask && (attr(enter, "type") != "submit" || attr(enter, "value") != "confirm" || attr(enter, "tabindex") != "-1") {
			t.Errorf("ask %v: Enter in the field is %v", ask, enter)
		}
		for _, b := range buttons {
			if attr(b, "name") != "decision" || attr(b, "class") != "" {
				t.Errorf("the two are not alike: %v", b.Attr)
			}
		}
		if _, ok := lookup(buttons[0], "formnovalidate"); !ok {
			t.Error("who denies would have to type a number first")
		}
		for _, n := range all(root) {
			if _, ok := lookup(n, "autofocus"); ok {
				t.Error("a keyboard would cover the warning")
			}
		}
		if (byName(root, "number") != nil) != ask {
			t.Error("the number is asked for when it is not, or the reverse")
		}
	}
}

func TestAnsweredConfirmationHasNoForm(t *testing.T) {
	p := newPages(t, Config{})
	for _, done := range confirmDone[1:] {
		w := httptest.NewRecorder()
		p.Confirm(w, 200, ConfirmView{Done: done})
		root := parsed(t, w.Body.String())
		if w.Code != 200 || len(all(all(root, "main")[0], "form")) != 0 || text(all(root, "h1")[0]) != p.texts["en"]["confirm."+done+".heading"] {
			t.Errorf("%s: %d %s", done, w.Code, text(root))
		}
	}
}

func TestUserCodeFieldIsEasyToFill(t *testing.T) {
	p := newPages(t, Config{})
	for _, v := range []EnterCodeView{{Form: testForm}, {Form: testForm, UserCode: "WDJB-MJHT", Failed: true}, {Form: testForm, Limited: true}} {
		w := httptest.NewRecorder()
		p.EnterCode(w, 200, v)
		root := parsed(t, w.Body.String())
		field := byName(root, "user_code")
		for name, want := range map[string]string{"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false", "type": "text", "value": v.UserCode} {
			if got := attr(field, name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if _, ok := lookup(field, "maxlength"); ok {
			t.Error("what is pasted with spaces would be cut")
		}
		described := attr(field, "aria-describedby")
		if alert := byID(root, "refused"); (alert != nil) != (v.Failed || v.Limited) || (alert != nil) != strings.Contains(described, "refused") || !strings.Contains(described, "hint") {
			t.Errorf("described by %q", described)
		}
	}
}

func TestTimeIsShownRelativeAndAbsolute(t *testing.T) {
	p := newPages(t, Config{})
	for ago, want := range map[time.Duration]string{-time.Minute: "just now, at 23:06 UTC", 5 * time.Second: "just now, at 23:04 UTC", 4 * time.Minute: "4 min ago, at 23:01 UTC"} {
		v := confirmView("en")
		v.At = testNow.Add(-ago).In(time.FixedZone("x", 3600))
		w := httptest.NewRecorder()
		p.Confirm(w, 200, v)
		if !strings.Contains(text(parsed(t, w.Body.String())), want) {
			t.Errorf("%v: not %q", ago, want)
		}
	}
}
