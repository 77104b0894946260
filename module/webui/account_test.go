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

func TestTheAccountPageSaysWhoHasAccessAndWhereOneIsSignedIn(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {"maria", "Reader", "Since 3 February 2026.", "Read your articles", "imports", "Stranger", "Nobody has checked its name",
			"It asks you at each sign-in.", "Firefox on Linux", "this browser", "Last used just now.", "Unknown browser", "Last used 5 min ago.",
			"Safari", "Last used 5 h ago.", "Windows", "Last used 2 d ago.", "Signed in on 3 February 2026."},
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

func TestEveryButtonOfTheAccountPageSaysWhatItIsForAndSendsIt(t *testing.T) {
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

func TestAnAccountWithoutApplicationsSaysSo(t *testing.T) {
	root := accountPage(t, "en", AccountView{Form: testForm, Sessions: []SessionView{{ID: "s", Current: true}}})
	if page := text(root); !strings.Contains(page, "No application has access") || strings.Contains(page, "more than are shown") {
		t.Error(page)
	}
	if byName(root, "withdraw") != nil || byName(root, "end") == nil || attr(byName(root, "all"), "value") != "everything" {
		t.Error("the wrong buttons")
	}
}

func TestWhatAButtonDidIsAnnounced(t *testing.T) {
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

func TestTheConsentPageSaysThatANameIsNotVerified(t *testing.T) {
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
