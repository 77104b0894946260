package webui

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestLanguagePrecedence(t *testing.T) {
	for _, c := range []struct {
		name, uiLocales, cookie, accept, want string
	}{
		{"nothing", "", "", "", "en"},
		{"browser", "", "", "zh-CN,zh;q=0.9,en;q=0.8", "zh"},
		{"browser prefers another, then Chinese", "", "", "fr-CH, fr;q=0.9, zh;q=0.5", "zh"},
		{"browser weighs", "", "", "zh;q=0.2, en-GB;q=0.9", "en"},
		{"browser speaks neither", "", "", "fr, de;q=0.5", "en"},
		{"traditional script is nearer than English", "", "", "zh-TW", "zh"},
		{"any", "", "", "*", "en"},
		{"cookie before browser", "", "zh", "en", "zh"},
		{"unknown cookie", "", "fr", "zh", "zh"},
		{"broken cookie", "", "%%%", "zh", "zh"},
		{"the reader's choice before the application's", "zh-Hans-CN", "en", "zh", "en"}, // S13
		{"ui_locales before browser", "zh-Hans-CN", "", "en", "zh"},
		{"ui_locales in order", "fr zh en", "", "en", "zh"},
		{"ui_locales unknown", "fr it", "", "zh", "zh"},
		{"ui_locales broken", "!!! zh", "", "en", "zh"},
		{"ui_locales is a script", "<script>", "", "", "en"},
		{"broken browser", "", "", "zh;q=x", "en"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPages(t, Config{})
			r := httptest.NewRequest("GET", "/", nil)
			if c.cookie != "" {
				r.Header.Set("Cookie", LanguageCookie+"="+c.cookie)
			}
			if c.accept != "" {
				r.Header.Set("Accept-Language", c.accept)
			}
			if got := p.Language(r, c.uiLocales); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestFirstConfiguredLanguageIsTheFallback(t *testing.T) {
	p := newPages(t, Config{Languages: []string{"zh", "en"}})
	r := httptest.NewRequest("GET", "/", nil)
	if got := p.Language(r, ""); got != "zh" {
		t.Errorf("got %q", got)
	}
	w := httptest.NewRecorder()
	p.Error(w, 404, ErrorView{Lang: "fr", Code: "not_found"})
	if got := attr(all(parsed(t, w.Body.String()), "html")[0], "lang"); got != "zh-Hans" {
		t.Errorf("lang %q", got)
	}
}

func TestOnlyConfiguredLanguagesAreUsed(t *testing.T) {
	p := newPages(t, Config{Languages: []string{"en"}})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Language", "zh")
	if got := p.Language(r, "zh"); got != "en" {
		t.Errorf("got %q", got)
	}
}

func TestRegionalVariantOfABuiltInLanguageNeedsNoFile(t *testing.T) {
	p := newPages(t, Config{Languages: []string{"en-GB", "zh-CN"}})
	r := httptest.NewRequest("GET", "/", nil)
	if got := p.Language(r, "zh"); got != "zh-CN" {
		t.Errorf("got %q", got)
	}
}

func TestLanguagePreferencesAreLimited(t *testing.T) {
	p := newPages(t, Config{})
	r := httptest.NewRequest("GET", "/", nil)
	if got := p.Language(r, strings.Repeat("fr ", maxLocaleTags-1)+"zh"); got != "zh" {
		t.Errorf("the last tag within the cap: %q", got)
	}
	if got := p.Language(r, strings.Repeat("fr ", maxLocaleTags)+"zh"); got != "en" {
		t.Errorf("a tag beyond the cap: %q", got)
	}
	if got := p.Language(r, "zh "+strings.Repeat("x", maxLocales)); got != "zh" {
		t.Errorf("what fits is read: %q", got)
	}
	r.Header.Set("Cookie", LanguageCookie+"=zh-"+strings.Repeat("x", maxLangCookie))
	if got := p.Language(r, ""); got != "en" {
		t.Errorf("a long cookie: %q", got)
	}
	r = httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Language", strings.Repeat("fr,", maxAcceptLang/3+1)+"zh")
	if got := p.Language(r, ""); got != "en" {
		t.Errorf("beyond the cap of the header: %q", got)
	}
	start := time.Now()
	for _, evil := range []string{strings.Repeat("-", 1<<20), strings.Repeat("a-", 1<<19), strings.Repeat("en,", 1<<19), strings.Repeat(" ", 1<<20)} {
		r.Header.Set("Accept-Language", evil)
		r.Header.Set("Cookie", LanguageCookie+"="+evil)
		p.Language(r, evil)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("a megabyte of wishes took %v", took)
	}
}

func TestLanguageNeedsAValidTagAndTexts(t *testing.T) {
	for _, languages := range [][]string{{"de"}, {"zh-TW"}, {""}, {"en", "en"}, {"../en"}, {"!"}, make([]string, 33)} {
		if _, err := New(Config{Languages: languages}); err == nil {
			t.Errorf("%q was accepted", languages)
		}
	}
}
