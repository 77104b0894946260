package webui

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

var testForm = Form{Lang: "en", Action: "/login", Token: "tok-1", Request: "sealed-1"}

// shown is a page in one of its states.
type shown struct {
	name  string
	title string // in English, without the site
	do    func(p *Pages, w http.ResponseWriter, lang string)
}

func form(lang string) Form {
	f := testForm
	f.Lang = lang
	return f
}

var scopes = []ScopeView{{"articles:read", "Read your articles", true}, {Name: "imports"}}

var states = []shown{
	{"login", "Sign in", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Login(w, 200, LoginView{Form: form(lang), Client: "Reader"})
	}},
	{"login without a client", "Sign in", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Login(w, 200, LoginView{Form: Form{Lang: lang, Action: "/login", Token: "t"}})
	}},
	{"login failed", "Sign-in failed", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Login(w, 200, LoginView{Form: form(lang), Client: "Reader", Username: "maria", Failed: true})
	}},
	{"login limited", "Too many attempts", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Login(w, 429, LoginView{Form: form(lang), Failed: true, Limited: true})
	}},
	{"login outdated", "Sign in", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Login(w, 200, LoginView{Form: form(lang), Client: "Reader", Username: "maria", Outdated: true})
	}},
	{"consent", "Allow access", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Consent(w, 200, ConsentView{Form: form(lang), Client: "Reader", Host: "reader.example", User: "maria", Scopes: scopes, Remember: true})
	}},
	{"consent without scopes", "Allow access", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Consent(w, 200, ConsentView{Form: form(lang), Client: "Reader"})
	}},
	{"logout", "Sign out", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Logout(w, 200, LogoutView{Form: form(lang), User: "maria"})
	}},
	{"logout done", "Signed out", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Logout(w, 200, LogoutView{Form: Form{Lang: lang}, Done: true})
	}},
	{"consent unverified", "Allow access", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Consent(w, 200, ConsentView{Form: form(lang), Client: "Reader", Host: "reader.example", User: "maria", Scopes: scopes, Remember: true, Unverified: true, Account: "/account"})
	}},
	{"logout asked", "Sign out", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Logout(w, 200, LogoutView{Form: form(lang), User: "maria", Client: "Reader", Account: "/account"})
	}},
	{"logout done everywhere", "Signed out", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Logout(w, 200, LogoutView{Form: Form{Lang: lang}, Done: true, Everywhere: true, Account: "/account"})
	}},
	{"account", "Your account", func(p *Pages, w http.ResponseWriter, lang string) { p.Account(w, 200, accountView(lang)) }},
	{"account of little", "Your account", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Account(w, 200, AccountView{Form: form(lang), Done: "withdrawn", Sessions: []SessionView{{ID: "s", Current: true}}})
	}},
	{"qr", "Sign in with your phone", func(p *Pages, w http.ResponseWriter, lang string) { p.QR(w, 200, qrView(lang, "waiting")) }},
	{"qr scanned", "Sign in with your phone", func(p *Pages, w http.ResponseWriter, lang string) { p.QR(w, 200, qrView(lang, "scanned")) }},
	{"qr expired", "Sign in with your phone", func(p *Pages, w http.ResponseWriter, lang string) { p.QR(w, 200, qrView(lang, "expired")) }},
	{"qr denied", "Sign in with your phone", func(p *Pages, w http.ResponseWriter, lang string) { p.QR(w, 200, qrView(lang, "denied")) }},
	{"qr in a frame", "Sign in with your phone", func(p *Pages, w http.ResponseWriter, lang string) {
		v := qrView(lang, "waiting")
		v.Small, v.Top, v.Frames = true, true, []string{"https://portal.example", "http://localhost:3000"}
		p.QR(w, 200, v)
	}},
	{"qr confirmed in a frame", "Sign in with your phone", func(p *Pages, w http.ResponseWriter, lang string) {
		v := qrView(lang, "confirmed")
		v.Small, v.Top, v.Script, v.Code = true, true, "", "the code"
		p.QR(w, 200, v)
	}},
	{"confirm", "Confirm a sign-in", func(p *Pages, w http.ResponseWriter, lang string) { p.Confirm(w, 200, confirmView(lang)) }},
	{"confirm a device", "Confirm a sign-in", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Confirm(w, 200, ConfirmView{Form: form(lang), Client: "TV", UserCode: "WDJB-MJHT"})
	}},
	{"confirmed", "Confirmed", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Confirm(w, 200, ConfirmView{Form: Form{Lang: lang}, Done: "confirmed"})
	}},
	{"denied", "Denied", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Confirm(w, 200, ConfirmView{Form: Form{Lang: lang}, Done: "denied"})
	}},
	{"wrong number", "The numbers do not match", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Confirm(w, 200, ConfirmView{Form: Form{Lang: lang}, Done: "wrong"})
	}},
	{"entercode", "Connect a device", func(p *Pages, w http.ResponseWriter, lang string) {
		p.EnterCode(w, 200, EnterCodeView{Form: form(lang), User: "maria"})
	}},
	{"entercode failed", "Connect a device", func(p *Pages, w http.ResponseWriter, lang string) {
		p.EnterCode(w, 200, EnterCodeView{Form: form(lang), UserCode: "WDJB-MJHT", Failed: true})
	}},
	{"entercode limited", "Connect a device", func(p *Pages, w http.ResponseWriter, lang string) {
		p.EnterCode(w, 429, EnterCodeView{Form: form(lang), Limited: true})
	}},
	{"home", "Welcome", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Home(w, 200, HomeView{Lang: lang, Login: "/id/login", Metadata: "/id/.well-known/openid-configuration"})
	}},
	{"error of a stranger", "Unknown application", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Error(w, 400, ErrorView{Lang: lang, Code: "unknown_client", Detail: "client_id is unknown", Sent: "https://a.example/cb?a=b c"})
	}},
	{"error", "This page has expired", func(p *Pages, w http.ResponseWriter, lang string) {
		p.Error(w, 400, ErrorView{Lang: lang, Code: "expired", Detail: "A detail.", Retry: "/authorize?client_id=a&state=b"})
	}},
}

const (
	testAddress = "https://auth.example/id/connect/confirm?uuid=Yl0eQ3Wm6Tn2bXvK9rPzAw"
	testEntry   = "https://auth.example/id/device"
)

func qrView(lang, state string) QRView {
	return QRView{
		Lang: lang, Client: "Portal", Host: "portal.example", Image: "/id/connect/qrcode/Yl0eQ3Wm6Tn2bXvK9rPzAw", Address: testAddress,
		UserCode: "WDJB-MJHT", Entry: testEntry, Number: "47", State: state,
		Poll: "/id/connect/l/qrconnect?uuid=Yl0eQ3Wm6Tn2bXvK9rPzAw", Script: "/id/connect/wait.js",
		Refresh: "/id/connect/qrconnect?uuid=Yl0eQ3Wm6Tn2bXvK9rPzAw", Again: "/id/connect/qrconnect?appid=p&state=a%26b",
		Redirect: "https://portal.example/callback", ClientState: "a&b",
	}
}

func confirmView(lang string) ConfirmView {
	return ConfirmView{
		Form: form(lang), Client: "Portal", Host: "portal.example", User: "maria", Scopes: scopes, Unverified: true,
		Browser: "Firefox", System: "Linux", Address: "203.0.113.24", At: testNow.Add(-90 * time.Second), AskNumber: true,
	}
}

var testNow = time.Date(2026, 2, 3, 23, 5, 0, 0, time.UTC)

// accountView is a page with one of everything.
func accountView(lang string) AccountView {
	since := time.Date(2026, 2, 3, 23, 5, 0, 0, time.UTC)
	return AccountView{
		Form: form(lang), User: "maria", Name: "Maria Rossi", Logout: "/logout", MoreApplications: true, MoreSessions: true,
		Applications: []ApplicationView{
			{ID: "app-1", ClientID: "reader", Name: "Reader", Host: "reader.example", Since: since, Scopes: scopes, Remembered: true},
			{ID: "app-2", Name: "Stranger", Since: since, Unverified: true},
		},
		Sessions: []SessionView{
			{ID: "ses-1", Browser: "Firefox", System: "Linux", Address: "10.1.2.3", Place: "private", Since: since, Idle: 20 * time.Second, Current: true},
			{ID: "ses-2", Address: "203.0.113.24", Since: since, Idle: 5 * time.Minute},
			{ID: "ses-3", Browser: "Safari", Place: "loopback", Since: since, Idle: 5 * time.Hour},
			{ID: "ses-4", System: "Windows", Since: since, Idle: 50 * time.Hour},
		},
	}
}

func newPages(t *testing.T, c Config) *Pages {
	t.Helper()
	if c.Now == nil {
		c.Now = func() time.Time { return testNow }
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func parsed(t *testing.T, body string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func (s shown) page(t *testing.T, p *Pages, lang string) (*httptest.ResponseRecorder, *html.Node) {
	t.Helper()
	w := httptest.NewRecorder()
	s.do(p, w, lang)
	return w, parsed(t, w.Body.String())
}

// all gives the elements of one of the names, or every element.
func all(root *html.Node, names ...string) []*html.Node {
	var found []*html.Node
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if len(names) == 0 {
			found = append(found, n)
		}
		for _, name := range names {
			if n.Data == name {
				found = append(found, n)
			}
		}
	}
	return found
}

func attr(n *html.Node, name string) string {
	v, _ := lookup(n, name)
	return v
}

func lookup(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

func text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func byName(root *html.Node, name string) *html.Node {
	for _, n := range all(root, "input", "button") {
		if attr(n, "name") == name {
			return n
		}
	}
	return nil
}

func byClass(root *html.Node, class string) *html.Node {
	for _, n := range all(root) {
		if slices.Contains(strings.Fields(attr(n, "class")), class) {
			return n
		}
	}
	return nil
}

func byID(root *html.Node, id string) *html.Node {
	for _, n := range all(root) {
		if attr(n, "id") == id {
			return n
		}
	}
	return nil
}
