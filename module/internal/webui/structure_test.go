package webui

import (
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestEveryPageIsWellStructuredHTML(t *testing.T) {
	p := newPages(t, Config{Name: "Press"})
	for _, lang := range []string{"en", "zh"} {
		for _, s := range states {
			t.Run(s.name+" "+lang, func(t *testing.T) {
				w, root := s.page(t, p, lang)
				if w.Body.Len() > 20<<10 {
					t.Errorf("%d bytes", w.Body.Len())
				}
				wantLang := map[string]string{"en": "en", "zh": "zh-Hans"}[lang]
				if got := attr(all(root, "html")[0], "lang"); got != wantLang {
					t.Errorf("lang %q", got)
				}
				if got := text(all(root, "title")[0]); lang == "en" && got != s.title+" · Press" {
					t.Errorf("title %q", got)
				}
				for _, once := range []string{"h1", "main", "header", "title"} {
					want := 1
					if once == "header" && strings.HasSuffix(s.name, "in a frame") {
						want = 0
					}
					if n := len(all(root, once)); n != want {
						t.Errorf("%d times %s", n, once)
					}
				}
				if len(text(all(root, "h1")[0])) < 2 {
					t.Error("an empty heading")
				}
				scripts := all(root, "script")
				if len(scripts) > 1 || len(scripts) == 1 && (!strings.HasPrefix(s.name, "qr") || attr(scripts[0], "src") != "/id/connect/wait.js" || text(scripts[0]) != "") {
					t.Error("another script than that of the code to scan")
				}
				if len(all(root, "iframe", "object", "embed", "base")) > 0 {
					t.Error("an element that has no place here")
				}
				checkIDs(t, root)
				checkFields(t, root)
				checkLocal(t, root)
			})
		}
	}
}

func checkIDs(t *testing.T, root *html.Node) {
	t.Helper()
	ids := map[string]bool{}
	for _, n := range all(root) {
		id, ok := lookup(n, "id")
		if ok && (id == "" || ids[id]) {
			t.Errorf("id %q is empty or not unique", id)
		}
		ids[id] = true
	}
	for _, n := range all(root) {
		for _, name := range []string{"for", "aria-describedby", "aria-labelledby"} {
			v, _ := lookup(n, name)
			for id := range strings.FieldsSeq(v) {
				if !ids[id] {
					t.Errorf("%s names %q, which is not there", name, id)
				}
			}
		}
	}
}

func checkFields(t *testing.T, root *html.Node) {
	t.Helper()
	labels := map[string]bool{}
	for _, l := range all(root, "label") {
		labels[attr(l, "for")] = text(l) != ""
	}
	focus := 0
	for _, n := range all(root, "input", "button", "select", "textarea") {
		if _, ok := lookup(n, "autofocus"); ok {
			focus++
		}
		switch {
		case n.Data == "button":
			if text(n) == "" || attr(n, "type") != "submit" {
				t.Error("a button without a text or type")
			}
		case attr(n, "class") == "default": // nobody sees or reaches it
		case attr(n, "type") != "hidden" && !labels[attr(n, "id")]:
			t.Errorf("field %q has no label", attr(n, "name"))
		}
	}
	if focus > 1 {
		t.Error("two fields want the focus")
	}
	for _, f := range all(root, "form") {
		if attr(f, "method") != "post" || !strings.HasPrefix(attr(f, "action"), "/") {
			t.Error("a form that does not post to a path")
		}
		// The choice of a language concerns nobody's account, and is not tied to a browser.
		if n := byName(f, "token"); attr(f, "action") != "/language" && (n == nil || attr(n, "value") == "") {
			t.Error("a form without a token")
		}
	}
}

// checkLocal: nothing inline that the policy would block, nothing from another host.
func checkLocal(t *testing.T, root *html.Node) {
	t.Helper()
	for _, n := range all(root) {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
				t.Errorf("attribute %s", a.Key)
			}
			if a.Key == "src" || a.Key == "href" {
				onward := attr(n, "id") == "onward" && strings.HasPrefix(a.Val, "https://portal.example/callback?code=the+code&state=a%26b")
				if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "data:image/svg+xml,") && a.Val != testAddress && !onward {
					t.Errorf("%s=%q", a.Key, a.Val)
				}
			}
		}
	}
	if s := all(root, "style"); len(s) != 1 || strings.Contains(text(s[0]), "url(") || strings.Contains(text(s[0]), "@import") {
		t.Error("the style is missing or loads something")
	}
}

func TestSignInFormHelpsPasswordManagers(t *testing.T) { // U24
	p := newPages(t, Config{})
	w := httptest.NewRecorder()
	p.Login(w, 200, LoginView{Form: testForm})
	root := parsed(t, w.Body.String())
	for name, want := range map[string]map[string]string{
		"username": {"type": "text", "autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"},
		"password": {"type": "password", "autocomplete": "current-password"},
		"token":    {"type": "hidden", "value": "tok-1"},
		"request":  {"type": "hidden", "value": "sealed-1"},
	} {
		n := byName(root, name)
		if n == nil {
			t.Fatalf("no field %s", name)
		}
		for k, v := range want {
			if attr(n, k) != v {
				t.Errorf("%s: %s is %q", name, k, attr(n, k))
			}
		}
		if slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "maxlength" || a.Key == "readonly" }) {
			t.Errorf("%s would cut or refuse what is pasted", name)
		}
	}
	if _, ok := lookup(byName(root, "password"), "value"); ok {
		t.Error("a password travels back")
	}
}

func TestFailedSignInIsAnnouncedToScreenReaders(t *testing.T) {
	p := newPages(t, Config{})
	for _, c := range []struct {
		name  string
		view  LoginView
		alert string // the key, "" for none
		focus string
	}{
		{"first time", LoginView{Form: testForm}, "", "username"},
		{"hinted", LoginView{Form: testForm, Username: "maria"}, "", "password"},
		{"failed", LoginView{Form: testForm, Username: "maria", Failed: true}, "login.failed", "password"},
		{"limited", LoginView{Form: testForm, Failed: true, Limited: true}, "login.limited", "username"},
		{"outdated", LoginView{Form: testForm, Username: "maria", Outdated: true}, "login.outdated", "password"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			p.Login(w, 200, c.view)
			root := parsed(t, w.Body.String())
			var alerts []string
			for _, n := range all(root) {
				if attr(n, "role") == "alert" {
					alerts = append(alerts, text(n))
				}
			}
			var want []string
			if c.alert != "" {
				want = []string{p.texts["en"][c.alert]}
			}
			if !slices.Equal(alerts, want) {
				t.Errorf("alerts %q", alerts)
			}
			for _, name := range []string{"username", "password"} {
				n := byName(root, name)
				if _, described := lookup(n, "aria-describedby"); described != (c.alert != "") {
					t.Errorf("%s described: %v", name, described)
				}
				if _, focus := lookup(n, "autofocus"); focus != (c.focus == name) {
					t.Errorf("%s has the focus: %v", name, focus)
				}
			}
			if got := attr(byName(root, "username"), "value"); got != c.view.Username {
				t.Errorf("username %q", got)
			}
		})
	}
}

func TestConsentPageShowsClientScopesAndTarget(t *testing.T) { // U22
	p := newPages(t, Config{})
	w := httptest.NewRecorder()
	p.Consent(w, 200, ConsentView{Form: testForm, Client: "Reader", Host: "reader.example", User: "maria", Scopes: scopes})
	root := parsed(t, w.Body.String())
	page := text(all(root, "main")[0])
	for _, want := range []string{"Allow Reader to use your account?", "maria", "reader.example", "Read your articles", "articles:read", "imports",
		p.texts["en"]["consent.once"]} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if n := len(all(byClass(root, "scopes"), "li")); n != 2 {
		t.Errorf("%d permissions", n)
	}
}

func TestConsentIsNeverTheDefault(t *testing.T) {
	p := newPages(t, Config{})
	w := httptest.NewRecorder()
	p.Consent(w, 200, ConsentView{Form: testForm, Client: "Reader", Scopes: scopes})
	root := parsed(t, w.Body.String())
	if buttons := answers(root); len(buttons) != 2 || attr(buttons[0], "value") != "deny" || attr(buttons[1], "value") != "allow" {
		t.Fatal("the first button must deny")
	}
	for _, n := range all(root) {
		if _, ok := lookup(n, "autofocus"); ok || n.Data == "input" && attr(n, "type") != "hidden" {
			t.Errorf("<%s %v>: Enter could answer", n.Data, n.Attr)
		}
	}
}

// answers are the buttons with which a page is answered, in their order.
func answers(root *html.Node) (buttons []*html.Node) {
	for _, b := range all(root, "button") {
		if attr(b, "name") == "decision" && attr(b, "value") != "switch" {
			buttons = append(buttons, b)
		}
	}
	return buttons
}

func TestVerifiedClientHasAllowAsPrimaryButton(t *testing.T) { // S12
	p := newPages(t, Config{})
	for _, unverified := range []bool{false, true} {
		w := httptest.NewRecorder()
		p.Consent(w, 200, ConsentView{Form: testForm, Client: "Reader", Scopes: scopes, Unverified: unverified})
		root := parsed(t, w.Body.String())
		buttons := answers(root)
		bar := attr(buttons[0].Parent, "class")
		if strings.Contains(bar, "sticky") == unverified {
			t.Errorf("unverified %v: the bar is %q", unverified, bar)
		}
		if primary := attr(buttons[1], "class") == "primary"; primary == unverified || attr(buttons[0], "class") != "" {
			t.Errorf("unverified %v: the buttons are %v and %v", unverified, buttons[0].Attr, buttons[1].Attr)
		}
		if unverified && len(buttons[0].Attr) != len(buttons[1].Attr) {
			t.Error("what nobody verified is easier to allow than to deny")
		}
	}
}

func TestConsentPageShowsTheUsersNameAndNewScopes(t *testing.T) { // S12
	p := newPages(t, Config{})
	w := httptest.NewRecorder()
	p.Consent(w, 200, ConsentView{Form: testForm, ClientID: "reader", Client: "Article Reader", User: "maria", Name: "Maria Rossi", Scopes: scopes})
	root := parsed(t, w.Body.String())
	var tiles, technical []string
	for _, n := range all(root, "span") {
		if strings.HasPrefix(attr(n, "class"), "tile") {
			tiles = append(tiles, text(n))
		}
	}
	if !slices.Equal(tiles, []string{"AR", "MR"}) {
		t.Errorf("tiles %q", tiles)
	}
	page := text(all(root, "main")[0])
	if !strings.Contains(page, "Your account: Maria Rossi maria Not you?") {
		t.Errorf("the person: %s", page)
	}
	for _, n := range all(all(root, "details")[0], "code") {
		technical = append(technical, text(n))
	}
	if !slices.Equal(technical, []string{"articles:read", "imports"}) {
		t.Errorf("technical names %q", technical)
	}
	rows := all(byClass(root, "scopes"), "li")
	if len(rows) != 2 || text(rows[0]) != "Read your articles New since you last allowed it" || text(rows[1]) != "imports" {
		t.Errorf("rows %q", text(byClass(root, "scopes")))
	}
}

func TestInitialsComeFromTheFirstAndLastWord(t *testing.T) {
	for name, want := range map[string]string{
		"Alice Liddell": "AL", "alice": "A", "Article Reader for Teams": "AT", "爱丽丝": "爱", "爱丽丝 Liddell": "爱", "a.b@example.com": "AC",
		"": "?", " \t": "?", "!!!": "?", "(beta) 2048": "B2", "\xff\xfe": "?", "é": "É", "\u202exy": "X", "42": "4",
	} {
		if got := (data{}).Initials(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestLogoutFormHasNoRequestField(t *testing.T) {
	p := newPages(t, Config{})
	w := httptest.NewRecorder()
	p.Logout(w, 200, LogoutView{Form: Form{Action: "/logout", Token: "t"}})
	if byName(parsed(t, w.Body.String()), "request") != nil {
		t.Error("an empty request field")
	}
}

func TestErrorPageLinksOnlyToThisHost(t *testing.T) {
	p := newPages(t, Config{})
	for retry, want := range map[string]bool{
		"": false, "/authorize?a=b&c=d": true, "/": true,
		"//evil.example": false, "/\\evil.example": false, "\\\\evil.example": false, "/\t/evil.example": false,
		"https://evil.example/": false, "javascript:alert(1)": false, "authorize": false, " /x": false, "/a\nb": false,
	} {
		w := httptest.NewRecorder()
		p.Error(w, 400, ErrorView{Code: "expired", Retry: retry})
		links := all(all(parsed(t, w.Body.String()), "main")[0], "a")
		if (len(links) == 1) != want {
			t.Errorf("%q: %d links", retry, len(links))
		}
		if want && attr(links[0], "href") != retry {
			t.Errorf("%q became %q", retry, attr(links[0], "href"))
		}
	}
}

func TestFormWithForeignActionIsNotRendered(t *testing.T) {
	p := newPages(t, Config{})
	for _, action := range []string{"", "//evil.example/login", "https://evil.example/", "login", "/\\evil.example", "javascript:alert(1)"} {
		f := Form{Action: action, Token: "t"}
		for i, do := range []func(w *httptest.ResponseRecorder){
			func(w *httptest.ResponseRecorder) { p.Login(w, 200, LoginView{Form: f}) },
			func(w *httptest.ResponseRecorder) { p.Consent(w, 200, ConsentView{Form: f}) },
			func(w *httptest.ResponseRecorder) { p.Logout(w, 200, LogoutView{Form: f}) },
			func(w *httptest.ResponseRecorder) { p.Account(w, 200, AccountView{Form: f}) },
			func(w *httptest.ResponseRecorder) { p.Confirm(w, 200, ConfirmView{Form: f}) },
			func(w *httptest.ResponseRecorder) { p.EnterCode(w, 200, EnterCodeView{Form: f}) },
		} {
			w := httptest.NewRecorder()
			do(w)
			if w.Code != 500 || strings.Contains(w.Body.String(), "<form") {
				t.Errorf("%q, page %d: status %d", action, i, w.Code)
			}
			if got := w.Header().Get("Content-Type"); got != "text/plain; charset=utf-8" {
				t.Errorf("content type %q", got)
			}
			if got := w.Header().Get("Content-Length"); got != strconv.Itoa(w.Body.Len()) {
				t.Errorf("content length %s", got)
			}
		}
	}
}
