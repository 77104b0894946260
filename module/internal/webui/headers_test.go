package webui

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestEveryPageCarriesTheSecurityHeaders(t *testing.T) { // U02, U03
	for _, https := range []bool{true, false} {
		p := newPages(t, Config{HTTPS: https})
		sheet := string(p.style[len("<style>") : len(p.style)-len("</style>")])
		sum := sha256.Sum256([]byte(sheet))
		want := map[string]string{
			"Content-Type": "text/html; charset=utf-8",
			"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
				"'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
			"X-Frame-Options":           "DENY",
			"X-Content-Type-Options":    "nosniff",
			"Referrer-Policy":           "same-origin",
			"Cache-Control":             "no-store",
			"Content-Language":          "en",
			"Strict-Transport-Security": "",
		}
		if https {
			want["Strict-Transport-Security"] = "max-age=31536000"
		}
		for _, s := range states {
			w, root := s.page(t, p, "en")
			for name, value := range want {
				if strings.HasPrefix(s.name, "qr") && (name == "Content-Security-Policy" || name == "X-Frame-Options") {
					continue // TestQRPageCSPAllowsOnlyItsScript
				}
				if got := w.Header().Get(name); got != value {
					t.Errorf("%s: %s is %q", s.name, name, got)
				}
			}
			if got := w.Header().Get("Content-Length"); got != strconv.Itoa(w.Body.Len()) {
				t.Errorf("%s: content length %s of %d", s.name, got, w.Body.Len())
			}
			// The hash is of what a parser sees, not of what was meant.
			if got := all(root, "style")[0].FirstChild.Data; got != sheet {
				t.Errorf("%s: the style differs from the one the policy names", s.name)
			}
		}
	}
}

func TestPagesCutTheOpenerUnlessTold(t *testing.T) {
	p := newPages(t, Config{})
	for _, s := range states {
		if w, _ := s.page(t, p, "en"); w.Header().Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%s: %v", s.name, w.Header())
		}
	}
	w := httptest.NewRecorder()
	KeepOpener(w.Header())
	p.Error(w, http.StatusBadRequest, ErrorView{Lang: "en", Code: "expired"})
	if got := w.Header().Values("Cross-Origin-Opener-Policy"); len(got) != 1 || got[0] != "unsafe-none" {
		t.Errorf("opener policy %q", got)
	}
}

func TestCSPHasNoFormAction(t *testing.T) { // U03
	p := newPages(t, Config{})
	w, _ := states[0].page(t, p, "en")
	if strings.Contains(w.Header().Get("Content-Security-Policy"), "form-action") {
		t.Error("Chrome would block the redirect back to the client")
	}
}

func TestStyleWithCarriageReturnsMatchesItsHash(t *testing.T) {
	p := newPages(t, Config{Templates: dir(t, "style.css", "body{color:red}\r\n\r\na{color:blue}\r\n")})
	if strings.ContainsRune(string(p.style), '\r') {
		t.Error("a browser hashes the sheet with LF")
	}
}

func TestEarlierHeadersDoNotWeakenAPage(t *testing.T) {
	p := newPages(t, Config{HTTPS: true})
	w := httptest.NewRecorder()
	w.Header()["Content-Security-Policy"] = []string{"default-src *", "script-src *"}
	w.Header().Set("Cache-Control", "public")
	p.Error(w, 404, ErrorView{Code: "not_found"})
	if got := w.Header().Values("Content-Security-Policy"); len(got) != 1 || !strings.HasPrefix(got[0], "default-src 'none'") {
		t.Errorf("policy %q", got)
	}
	if got := w.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("cache control %q", got)
	}
	if w.Code != 404 {
		t.Errorf("status %d", w.Code)
	}
}

func TestPagesDoNotShareHeaders(t *testing.T) {
	p := newPages(t, Config{})
	w := httptest.NewRecorder()
	p.Error(w, 404, ErrorView{Code: "not_found"})
	for _, values := range w.Header() {
		values[0] = "changed"
	}
	w = httptest.NewRecorder()
	p.Error(w, 404, ErrorView{Code: "not_found"})
	if got := w.Header().Get("X-Frame-Options"); got != "DENY" {
		t.Errorf("got %q", got)
	}
}

func TestHEADGetsTheLengthWithoutTheBody(t *testing.T) {
	p := newPages(t, Config{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.Login(w, 200, LoginView{Form: testForm})
	}))
	defer s.Close()
	res, err := http.Head(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 || res.ContentLength < 1000 {
		t.Errorf("status %d, length %d", res.StatusCode, res.ContentLength)
	}
}

func TestCSPAllowsOnlyTheLogo(t *testing.T) {
	for logo, origin := range map[string]string{
		"/brand/logo.svg":                         "",
		"https://cdn.example/a/logo.svg?v=1":      " https://cdn.example",
		"https://cdn.example:8443/logo.svg":       " https://cdn.example:8443",
		"http://cdn.example/logo.svg":             "refused",
		"//cdn.example/logo.svg":                  "refused",
		"logo.svg":                                "refused",
		"javascript:alert(1)":                     "refused",
		"data:image/svg+xml,<svg/>":               "refused",
		"https://user:pw@cdn.example/logo.svg":    "refused",
		"https:///logo.svg":                       "refused",
		"https://cdn.example;script-src/logo.svg": "refused",
		"https://*.example/logo.svg":              "refused",
	} {
		p, err := New(Config{Logo: logo})
		if origin == "refused" {
			if err == nil {
				t.Errorf("%s was accepted", logo)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", logo, err)
			continue
		}
		w, root := states[0].page(t, p, "en")
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "img-src 'self' data:"+origin+";") {
			t.Errorf("%s: %s", logo, w.Header().Get("Content-Security-Policy"))
		}
		img := all(root, "img")
		if len(img) != 1 || attr(img[0], "src") != logo {
			t.Errorf("%s is not shown", logo)
		}
		if alt, ok := lookup(img[0], "alt"); !ok || alt != "" {
			t.Error("beside the name the logo is decoration")
		}
	}
}
