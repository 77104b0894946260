package gatewaytest

import (
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/webui"
)

// Page is a page that people see, in one of its states.
type Page struct {
	// Name is the name of the page's template, followed by that of the state: "login", "login-failed".
	Name string
	// Write writes the page in a language, "en" or "zh".
	Write func(w http.ResponseWriter, lang string)
}

// What long names do to a page is part of how it looks.
const (
	longClient = "Reading Room of the Municipal Library and its Nineteen Branches"
	longHost   = "reading-room.municipal-library-and-its-nineteen-branches.example"
	longUser   = "bartholomew.featherstonehaugh-montgomery@municipal-library.example"
	// joinedClient has forty letters that no browser breaks a line between: to Unicode they are one.
	joinedClient = conjunct + conjunct + conjunct + conjunct
	conjunct     = "क्ष्क्ष्क्ष्क्ष्क्ष्"
)

// pictureOf is the path of the picture on pages with a code to scan.
const pictureOf = "/code.png"

// gallery writes pages with the content of a busy day.
type gallery struct {
	*webui.Pages
	pages  []Page
	origin string
	now    time.Time
}

// Pages are all pages in all states that differ in what they show. The server at origin, which shows
// them, also has to serve Picture at its path.
func Pages(t testing.TB, origin string) []Page {
	t.Helper()
	g := &gallery{origin: origin, now: time.Date(2026, 2, 3, 23, 5, 0, 0, time.UTC)}
	var err error
	g.Pages, err = webui.New(webui.Config{
		Name: "Example ID", Now: func() time.Time { return g.now },
		Links: webui.Links{Help: "/help", Privacy: "/privacy", Terms: "/terms", Forgot: "/forgot"},
	})
	if err != nil {
		t.Fatal(err)
	}
	g.signIn()
	g.consents()
	g.accounts()
	g.devices()
	g.errors()
	return append(g.pages, apiPage(t))
}

// Picture returns the path and the content of the picture that pages with a code show.
func Picture(t testing.TB) (path string, png []byte) {
	t.Helper()
	png, err := webui.QRImage("https://id.example/connect/confirm?uuid=Yl0eQ3Wm6Tn2bXvK9rPzAw")
	if err != nil {
		t.Fatal(err)
	}
	return pictureOf, png
}

func (g *gallery) add(name string, write func(w http.ResponseWriter, lang string)) {
	g.pages = append(g.pages, Page{name, write})
}

func formIn(lang string) webui.Form {
	return webui.Form{Lang: lang, Action: "/answer", Token: "token", Request: "sealed"}
}

func (g *gallery) signIn() {
	login := func(name string, v webui.LoginView) {
		g.add(name, func(w http.ResponseWriter, lang string) {
			v.Form = formIn(lang)
			g.Login(w, http.StatusOK, v)
		})
	}
	login("login", webui.LoginView{Client: "Article Reader"})
	login("login-alone", webui.LoginView{})
	login("login-failed", webui.LoginView{Client: longClient, Username: longUser, Failed: true, Unverified: true})
	login("login-outdated", webui.LoginView{Client: "Article Reader", Username: "maria", Outdated: true})
	login("login-limited", webui.LoginView{Client: "Article Reader", Limited: true})
	logout := func(name string, v webui.LogoutView) {
		g.add(name, func(w http.ResponseWriter, lang string) {
			v.Form = formIn(lang)
			g.Logout(w, http.StatusOK, v)
		})
	}
	logout("logout", webui.LogoutView{User: "maria", Account: "/account"})
	logout("logout-asked", webui.LogoutView{User: longUser, Client: longClient, Unverified: true, Account: "/account"})
	logout("logout-unknown", webui.LogoutView{})
	logout("logout-done", webui.LogoutView{Done: true, Account: "/account"})
	logout("logout-everywhere", webui.LogoutView{Done: true, Everywhere: true, Account: "/account"})
	g.add("home", func(w http.ResponseWriter, lang string) {
		g.Home(w, http.StatusOK, webui.HomeView{Lang: lang, Login: "/login", Metadata: "/.well-known/openid-configuration"})
	})
}

// scopes has permissions with a text, without one, and with a very long one.
var scopes = []webui.ScopeView{
	{Name: "articles:read", Text: "Read your articles"},
	{Name: "articles:write", Text: "Write, publish and delete articles in every section that you may edit, also those of other authors", New: true},
	{Name: "https://api.municipal-library.example/scopes/interlibrary-loans.readonly"},
}

func (g *gallery) consents() {
	consent := func(name string, v webui.ConsentView) {
		g.add(name, func(w http.ResponseWriter, lang string) {
			v.Form = formIn(lang)
			g.Consent(w, http.StatusOK, v)
		})
	}
	consent("consent", webui.ConsentView{Account: "/account", ClientID: "reader", Client: "Article Reader", Host: "reader.example", User: "maria", Name: "Maria Rossi", Scopes: scopes[:2], Remember: true})
	consent("consent-unverified", webui.ConsentView{Account: "/account", ClientID: "x", Client: longClient, Host: longHost, User: longUser, Scopes: scopes, Unverified: true})
	consent("consent-joined", webui.ConsentView{ClientID: "x", Client: joinedClient, Host: "x.example", User: "maria", Scopes: scopes[:1], Unverified: true})
	consent("consent-without-scopes", webui.ConsentView{ClientID: "tv", Client: "Television", User: "maria"})
}

func (g *gallery) accounts() {
	account := func(name string, v webui.AccountView) {
		v.User, v.Logout = "maria", "/logout"
		g.add(name, func(w http.ResponseWriter, lang string) {
			v.Form = formIn(lang)
			g.Account(w, http.StatusOK, v)
		})
	}
	applications := []webui.ApplicationView{
		{ID: "1", ClientID: "reader", Name: "Article Reader", Host: "reader.example", Since: g.now, Scopes: scopes[:2], Remembered: true},
		{ID: "2", ClientID: "x", Name: longClient, Host: longHost, Since: g.now, Scopes: scopes, Unverified: true},
		{ID: "3", ClientID: "tv", Name: "Television", Since: g.now},
		{ID: "4", ClientID: "x", Name: joinedClient, Host: "x.example", Since: g.now, Unverified: true},
	}
	sessions := []webui.SessionView{
		{ID: "1", Browser: "Firefox", System: "Linux", Address: "10.1.2.3", Place: "private", Since: g.now, Current: true},
		{ID: "2", Address: "2001:db8:1234:5678:9abc:def0:1234:5678", Since: g.now, Idle: 5 * time.Minute},
		{ID: "3", Browser: "Safari", Place: "loopback", Since: g.now, Idle: 5 * time.Hour},
		{ID: "4", System: "Windows", Since: g.now, Idle: 50 * time.Hour},
	}
	account("account", webui.AccountView{Name: "Maria Rossi", Applications: applications, MoreApplications: true, Sessions: sessions, MoreSessions: true})
	account("account-empty", webui.AccountView{Sessions: sessions[:1]})
	for _, done := range []string{"withdrawn", "ended", "others"} {
		account("account-"+done, webui.AccountView{Done: done, Applications: applications[:1], Sessions: sessions[:2]})
	}
}

func (g *gallery) devices() {
	for _, state := range []string{"waiting", "scanned", "denied", "expired", "confirmed"} {
		for _, small := range []bool{false, true} {
			name := "qr-" + state
			if small {
				name += "-framed"
			}
			code := ""
			if state == "confirmed" {
				code = "code"
			}
			g.add(name, func(w http.ResponseWriter, lang string) {
				g.QR(w, http.StatusOK, webui.QRView{
					Lang: lang, Client: "Portal", Host: "portal.example", Image: pictureOf, Address: g.origin + "/connect/confirm",
					UserCode: "WDJB-MJHT", Entry: "https://id.example/device", Number: "47", State: state, Poll: "/poll", Refresh: "/refresh",
					Again: "/again", Redirect: "https://portal.example/callback", Code: code, Top: small, Small: small,
				})
			})
		}
	}
	confirm := func(name string, v webui.ConfirmView) {
		g.add(name, func(w http.ResponseWriter, lang string) {
			v.Form = formIn(lang)
			g.Confirm(w, http.StatusOK, v)
		})
	}
	confirm("confirm", webui.ConfirmView{Client: "Portal", Host: "portal.example", User: "maria", Name: "Maria Rossi", Browser: "Firefox", System: "Linux", Address: "203.0.113.24", At: g.now.Add(-90 * time.Second), AskNumber: true})
	confirm("confirm-unverified", webui.ConfirmView{Client: longClient, Host: longHost, User: longUser, Address: "2001:db8:1234:5678:9abc:def0:1234:5678", At: g.now, Scopes: scopes, Unverified: true, AskNumber: true})
	confirm("confirm-device", webui.ConfirmView{Client: "Television", User: "maria", Browser: "Chrome", At: g.now, Scopes: scopes[:1], UserCode: "WDJB-MJHT"})
	for _, done := range []string{"confirmed", "denied", "wrong"} {
		confirm("confirm-"+done, webui.ConfirmView{Client: "Portal", Done: done})
	}
	enter := func(name string, v webui.EnterCodeView) {
		g.add(name, func(w http.ResponseWriter, lang string) {
			v.Form = formIn(lang)
			g.EnterCode(w, http.StatusOK, v)
		})
	}
	enter("entercode", webui.EnterCodeView{User: "maria"})
	enter("entercode-failed", webui.EnterCodeView{User: longUser, UserCode: "WDJB-MJHT", Failed: true})
	enter("entercode-limited", webui.EnterCodeView{User: "maria", Limited: true})
}

func (g *gallery) errors() {
	for _, v := range []webui.ErrorView{
		{Code: "invalid_request", Detail: "code_challenge is missing: public clients must use PKCE", RequestID: "0198c1f2-7d3a-7c55-8a41-2b9d3f0e6a11"},
		{Code: "unknown_client"},
		{Code: "invalid_redirect_uri", Detail: "redirect_uri is not registered", Sent: "https://" + longHost + "/oauth/callback/of/this/application?with=a&very-long=query"},
		{Code: "expired", Retry: "/authorize?client_id=a"},
		{Code: "already_answered"}, {Code: "forbidden"}, {Code: "not_found"}, {Code: "method_not_allowed"}, {Code: "too_large"}, {Code: "too_slow"},
		{Code: "too_many"}, {Code: "unavailable"}, {Code: "server_error"}, {Code: "plaintext"}, {Code: "gone"}, {Code: "taken"}, {Code: "unknown_code"},
	} {
		g.add("error-"+v.Code, func(w http.ResponseWriter, lang string) {
			v.Lang = lang
			g.Error(w, http.StatusOK, v)
		})
	}
}

// apiPage is the page that describes an API.
func apiPage(t testing.TB) Page {
	t.Helper()
	pages, err := webui.APIPages([]byte(apiDocument), "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return Page{"api", func(w http.ResponseWriter, lang string) {
		page := pages[0]
		if lang == "zh" {
			page = pages[1]
		}
		for name, values := range page.Header {
			w.Header()[name] = values
		}
		_, _ = w.Write(page.Body)
	}}
}

const apiDocument = `{"openapi": "3.1.0", "info": {"title": "Articles", "version": "2.1", "description": "Everything that the newsroom has published."},
"servers": [{"url": "https://api.municipal-library-and-its-nineteen-branches.example/v2"}],
"tags": [{"name": "articles"}],
"paths": {"/articles/{id}": {
	"get": {"operationId": "read", "tags": ["articles"], "summary": "Read an article", "security": [{"oauth": ["articles:read"]}],
		"parameters": [{"name": "id", "in": "path", "required": true, "description": "The number of the article", "schema": {"type": "integer"}}],
		"responses": {"200": {"description": "The article", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Article"}}}}, "404": {"description": "There is none"}}},
	"delete": {"operationId": "delete", "tags": ["articles"], "summary": "Delete an article", "deprecated": true, "security": [{"oauth": ["articles:write"]}],
		"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
		"responses": {"204": {"description": "It is deleted"}}}}},
"components": {"schemas": {"Article": {"type": "object", "required": ["title"], "properties": {"id": {"type": "integer", "readOnly": true},
	"title": {"type": "string", "maxLength": 200}, "a_member_with_a_name_that_is_far_longer_than_a_narrow_screen_is_wide": {"type": "string"}}}}}}`
