package webui

import (
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// canary is within every payload; wherever it turns up it must be text.
const canary = "xsscanary"

var payloads = []string{
	`<script>xsscanary</script>`,
	`"><script>xsscanary</script>`,
	`'><img src=x onerror=xsscanary>`,
	`" onfocus=xsscanary autofocus x="`,
	`</title><script>xsscanary</script>`,
	`</style><script>xsscanary</script>`,
	`--><svg onload=xsscanary>`,
	`javascript:xsscanary()`,
	`<a href="javascript:xsscanary">x</a>`,
	"`${xsscanary}`{{xsscanary}}",
	`{client}{site}{user}{{.View.Token}}xsscanary`,
	"\u202exsscanary<b>",
	"xsscanary\x00<script>",
	"\xff\xfe<xsscanary",
	`&lt;script&gt;xsscanary&amp;`,
	`</bdi></strong></h1><base href=//xsscanary>`,
}

func TestViewStringsAreEscaped(t *testing.T) { // U11, U22
	for _, payload := range payloads {
		p := newPages(t, Config{Name: payload})
		f := Form{Lang: payload, Action: "/a", Token: payload, Request: payload}
		for name, do := range map[string]func(w *httptest.ResponseRecorder){
			"login": func(w *httptest.ResponseRecorder) {
				p.Login(w, 200, LoginView{Form: f, Client: payload, Username: payload, Failed: true})
			},
			"consent": func(w *httptest.ResponseRecorder) {
				p.Consent(w, 200, ConsentView{Form: f, ClientID: payload, Client: payload, Host: payload, User: payload, Name: payload, Unverified: true, Account: "/account",
					Scopes: []ScopeView{{payload, payload, true}, {Name: payload}}})
			},
			"logout": func(w *httptest.ResponseRecorder) {
				p.Logout(w, 200, LogoutView{Form: f, User: payload, Client: payload})
			},
			"logout done": func(w *httptest.ResponseRecorder) {
				p.Logout(w, 200, LogoutView{Done: true, Client: payload, User: payload})
			},
			"account": func(w *httptest.ResponseRecorder) { p.Account(w, 200, hostileAccount(f, payload)) },
			"qr":      func(w *httptest.ResponseRecorder) { p.QR(w, 200, hostileQR(payload)) },
			"confirm": func(w *httptest.ResponseRecorder) { p.Confirm(w, 200, hostileConfirm(f, payload)) },
			"entercode": func(w *httptest.ResponseRecorder) {
				p.EnterCode(w, 200, EnterCodeView{Form: f, User: payload, UserCode: payload, Failed: true})
			},
			"error": func(w *httptest.ResponseRecorder) {
				p.Error(w, 400, ErrorView{Lang: payload, Code: payload, Detail: payload, Sent: payload, RequestID: payload, Retry: "/" + strings.TrimLeft(payload, "/ ")})
			},
		} {
			w := httptest.NewRecorder()
			do(w)
			if w.Code == 500 {
				t.Errorf("%s with %q was not rendered", name, payload)
			}
			clean := httptest.NewRecorder()
			harmless(newPages(t, Config{Name: "n"}), clean, name)
			if got, want := skeleton(parsed(t, w.Body.String())), skeleton(parsed(t, clean.Body.String())); got != want {
				t.Errorf("%s with %q: the elements changed\n%s\n%s", name, payload, got, want)
			}
			checkCanary(t, name, payload, parsed(t, w.Body.String()))
		}
	}
}

func harmless(p *Pages, w *httptest.ResponseRecorder, page string) {
	f := Form{Action: "/a", Token: "t", Request: "r"}
	switch page {
	case "login":
		p.Login(w, 200, LoginView{Form: f, Client: "c", Username: "u", Failed: true})
	case "consent":
		p.Consent(w, 200, ConsentView{Form: f, Client: "c", Host: "h", User: "u", Name: "n", Scopes: []ScopeView{{"n", "t", true}, {Name: "n"}}, Unverified: true, Account: "/account"})
	case "logout":
		p.Logout(w, 200, LogoutView{Form: f, User: "u", Client: "c"})
	case "logout done":
		p.Logout(w, 200, LogoutView{Done: true})
	case "account":
		p.Account(w, 200, hostileAccount(f, "x"))
	case "qr":
		p.QR(w, 200, hostileQR("x"))
	case "confirm":
		p.Confirm(w, 200, hostileConfirm(f, "x"))
	case "entercode":
		p.EnterCode(w, 200, EnterCodeView{Form: f, User: "u", UserCode: "c", Failed: true})
	case "error":
		p.Error(w, 400, ErrorView{Code: "server_error", Detail: "d", Sent: "s", RequestID: "i"})
	}
}

// hostileQR is hostile where others have a say; the paths are ours.
func hostileQR(payload string) QRView {
	v := qrView(payload, "confirmed")
	v.Client, v.Host, v.UserCode, v.Number, v.ClientState, v.Code = payload, payload, payload, payload, payload, payload
	return v
}

func hostileConfirm(f Form, payload string) ConfirmView {
	return ConfirmView{Form: f, Client: payload, Host: payload, User: payload, Unverified: true, Browser: payload, System: payload,
		Address: payload, AskNumber: true, UserCode: payload, Scopes: []ScopeView{{payload, payload, true}, {Name: payload}}}
}

func hostileAccount(f Form, payload string) AccountView {
	return AccountView{
		Form: f, User: payload, Name: payload,
		Applications: []ApplicationView{{ID: payload, ClientID: payload, Name: payload, Host: payload, Unverified: true, Scopes: []ScopeView{{payload, payload, true}, {Name: payload}}}},
		Sessions:     []SessionView{{ID: payload, Browser: payload, System: payload, Address: payload}, {ID: payload, Browser: payload}},
	}
}

// skeleton is the elements and the names of their attributes. The link of an error
// page, which a payload may or may not earn, is left out.
func skeleton(root *html.Node) string {
	var b strings.Builder
	for _, n := range all(root) {
		if n.Data == "a" || n.Data == "p" {
			continue
		}
		b.WriteString("<" + n.Data)
		for _, a := range n.Attr {
			b.WriteString(" " + a.Key)
		}
	}
	return b.String()
}

func checkCanary(t *testing.T, page, payload string, root *html.Node) {
	t.Helper()
	for n := range root.Descendants() {
		if n.Type == html.CommentNode && strings.Contains(n.Data, canary) {
			t.Errorf("%s with %q: in a comment", page, payload)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if strings.Contains(n.Data, canary) {
			t.Errorf("%s with %q: an element", page, payload)
		}
		for _, a := range n.Attr {
			query := n.Data == "div" && a.Key == "data-after" || n.Data == "a" && a.Key == "href" && attr(n, "id") == "onward"
			if query && strings.ContainsAny(a.Val, "<>\"'` ") {
				t.Errorf("%s with %q: %s=%q is not encoded", page, payload, a.Key, a.Val)
			}
			inValue := query || a.Key == "value" && (n.Data == "input" || n.Data == "button") || a.Key == "href" && n.Data == "a" && strings.HasPrefix(a.Val, "/")
			if strings.Contains(a.Key, canary) || strings.Contains(a.Val, canary) && !inValue {
				t.Errorf("%s with %q: attribute %s=%q", page, payload, a.Key, a.Val)
			}
		}
	}
}

func TestNameIsShownUnchanged(t *testing.T) {
	p := newPages(t, Config{})
	name := `Tom & "Jerry" <{site}>`
	w := httptest.NewRecorder()
	p.Consent(w, 200, ConsentView{Form: testForm, Client: name})
	h1 := all(parsed(t, w.Body.String()), "h1")[0]
	if got := text(h1); got != "Allow "+name+" to use your account?" {
		t.Errorf("got %q", got)
	}
	if bdi := all(h1, "bdi"); len(bdi) != 1 || text(bdi[0]) != name {
		t.Error("a name with right-to-left marks could rearrange the question")
	}
}

func TestUnknownErrorCodeIsNotReflected(t *testing.T) { // U12
	p := newPages(t, Config{})
	w := httptest.NewRecorder()
	p.Error(w, 400, ErrorView{Code: "error_hint-canary"})
	if body := w.Body.String(); strings.Contains(body, "canary") || !strings.Contains(body, p.texts["en"]["error.server_error.heading"]) {
		t.Error("the code is shown, or no text for it")
	}
}
