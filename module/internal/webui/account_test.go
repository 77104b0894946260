package webui

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func accountPage(t *testing.T, lang string, v AccountView) *html.Node {
	t.Helper()
	w := httptest.NewRecorder()
	newPages(t, Config{Name: "Press"}).Account(w, 200, v)
	if w.Code != 200 {
		t.Fatal(w.Code, w.Body.String())
	}
	return parsed(t, w.Body.String())
}

func TestAccountPageShowsApplicationsAndSessions(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {"maria", "Reader", "Since 3 February 2026.", "Read your articles", "imports", "Stranger", "Nobody has checked its name",
			"It asks for your permission at each sign-in.", "Firefox on Linux", "this browser", "Last used just now.", "Unknown browser", "Last used 5 min ago.",
			"Safari", "Last used 5 h ago.", "Windows", "Last used 2 d ago.", "Signed in on 3 February 2026, 23:05 UTC.", "Local network · 10.1.2.3", "This machine", "reader.example · Since", "Maria Rossi maria"},
		"zh": {"2026年2月3日", "Linux 上的 Firefox", "5 分钟前", "当前浏览器", "未经核实", "每次登录时都会询问您"},
	} {
		page := text(all(accountPage(t, lang, accountView(lang)), "main")[0])
		for _, w := range want {
			if !strings.Contains(page, w) {
				t.Errorf("%s: %q is not shown in %s", lang, w, page)
			}
		}
	}
}

func TestAccountPageButtonsAreLabelledAndSubmit(t *testing.T) {
	root := accountPage(t, "en", accountView("en"))
	var got, names []string
	for _, b := range all(all(root, "main")[0], "button") {
		got = append(got, attr(b, "name")+"="+attr(b, "value"))
		names = append(names, text(b))
	}
	if want := []string{"withdraw=app-1", "withdraw=app-2", "end=ses-1", "end=ses-2", "end=ses-3", "end=ses-4", "all=others", "all=everything"}; !slices.Equal(got, want) {
		t.Errorf("buttons %q", got)
	}
	// Who hears the buttons one by one must be able to tell them apart.
	if slices.Sort(names); len(slices.Compact(names)) != len(got) {
		t.Errorf("two buttons read alike: %q", names)
	}
	for _, input := range all(root, "input") {
		if attr(input, "type") != "hidden" {
			t.Error("a field from which Enter would press the first button")
		}
	}
}

func TestEmptyAccountPageSaysSo(t *testing.T) {
	root := accountPage(t, "en", AccountView{Form: testForm, Sessions: []SessionView{{ID: "s", Current: true}}})
	if page := text(root); !strings.Contains(page, "No application has access") || strings.Contains(page, "more than are shown") {
		t.Error(page)
	}
	if byName(root, "withdraw") != nil || byName(root, "end") == nil || attr(byName(root, "all"), "value") != "everything" {
		t.Error("the wrong buttons")
	}
}

func TestAccountPageAnnouncesButtonResults(t *testing.T) {
	for _, done := range accountDone {
		statuses := 0
		for _, n := range all(accountPage(t, "en", AccountView{Form: testForm, Done: done})) {
			if attr(n, "role") == "status" && len(text(n)) > 5 {
				statuses++
			}
		}
		if (statuses == 1) != (done != "") {
			t.Errorf("%q: %d announcements", done, statuses)
		}
	}
}

func TestConsentPageMarksUnverifiedNames(t *testing.T) {
	for lang, want := range map[string]string{"en": "Not verified. This application registered itself. Nobody has checked its name.", "zh": "未经验证。"} {
		p := newPages(t, Config{})
		for _, unverified := range []bool{true, false} {
			w := httptest.NewRecorder()
			p.Consent(w, 200, ConsentView{Form: form(lang), Client: "Your bank", Unverified: unverified})
			if got := strings.Contains(text(parsed(t, w.Body.String())), want); got != unverified {
				t.Errorf("%s: shown %v, want %v", lang, got, unverified)
			}
		}
	}
}

func TestAccountPageTimesAreMarkedForTheScript(t *testing.T) { // S13
	v := accountView("en")
	v.Script, v.Origin = "/id/times.js", "https://auth.example"
	w := httptest.NewRecorder()
	newPages(t, Config{}).Account(w, 200, v)
	root := parsed(t, w.Body.String())
	times := all(root, "time")
	if len(times) < 6 {
		t.Fatalf("%d times", len(times))
	}
	for _, n := range times {
		if attr(n, "datetime") != "2026-02-03T23:05:00Z" {
			t.Errorf("%v", n.Attr)
		}
	}
	if policy := w.Header().Get("Content-Security-Policy"); !strings.HasSuffix(policy, "; script-src https://auth.example/id/times.js") {
		t.Error(policy)
	}
	for _, spoil := range []func(*AccountView){
		func(v *AccountView) { v.Script = "//evil.example/times.js" }, func(v *AccountView) { v.Script = "/times.js 'unsafe-inline'" },
		func(v *AccountView) { v.Origin = "https://*" }, func(v *AccountView) { v.Origin = "" },
	} {
		spoiled := v
		spoil(&spoiled)
		w := httptest.NewRecorder()
		if newPages(t, Config{}).Account(w, 200, spoiled); w.Code != 500 {
			t.Errorf("%q of %q: %d", spoiled.Script, spoiled.Origin, w.Code)
		}
	}
}

func TestSentInputIsShownInertAndTruncated(t *testing.T) { // S13
	for sent, want := range map[string]string{
		"https://a.example/cb?x=1&y=2#z":    "https://a.example/cb?…",
		"https://a.example/cb?":             "https://a.example/cb?",
		"https://a.example/cb#token=1":      "https://a.example/cb#…",
		"https://u:pw@a.example/@x":         "https://…@a.example/@x",
		`https:\\u:pw@a.example\x`:          "https:%5C%5C…@a.example%5Cx",
		"https:u:pw@a.example/cb":           "…@a.example/cb",
		"u:pw@a.example":                    "…@a.example",
		"Your account is locked":            "Your%20account%20is%20locked",
		"javascript:alert('<b>')":           "javascript:alert('%3Cb%3E')",
		"\u202ehttps://é.example/{{.}}\n":   "%E2%80%AEhttps://%C3%A9.example/%7B%7B.%7D%7D%0A",
		strings.Repeat("a", maxInert):       strings.Repeat("a", maxInert),
		strings.Repeat("a", maxInert) + "b": strings.Repeat("a", maxInert) + "…",
		strings.Repeat("<", 64<<10):         strings.Repeat("%3C", maxInert) + "…",
	} {
		w := httptest.NewRecorder()
		newPages(t, Config{}).Error(w, 400, ErrorView{Code: "unknown_client", Sent: sent})
		root := parsed(t, w.Body.String())
		if got := text(byClass(root, "sent")); got != want {
			t.Errorf("%.60q: %.80q", sent, got)
		}
		if links := all(all(root, "main")[0], "a"); len(links) != 0 {
			t.Errorf("%.60q: %d links", sent, len(links))
		}
	}
}
