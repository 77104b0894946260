package webui

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestScriptIsCachedByItsETag(t *testing.T) {
	p := newPages(t, Config{})
	for name, policy := range map[string]string{"wait.js": "same-origin", "times.js": "same-origin", "login.js": "cross-origin"} {
		w := httptest.NewRecorder()
		w.Header().Set("Cache-Control", "no-store") // as the server sets it in front of all
		p.Script(w, httptest.NewRequest("GET", "/", nil), name)
		for header, want := range map[string]string{
			"Content-Type": "text/javascript; charset=utf-8", "X-Content-Type-Options": "nosniff",
			"Cross-Origin-Resource-Policy": policy, "Cache-Control": "public, max-age=300",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %s is %q", name, header, got)
			}
		}
		if w.Code != 200 || w.Body.Len() < 500 || w.Body.Len() > 8<<10 {
			t.Errorf("%s: %d, %d bytes", name, w.Code, w.Body.Len())
		}
		tag := w.Header().Get("ETag")
		for sent, want := range map[string]int{tag: 304, `"other", W/` + tag: 304, `"other"`: 200, "": 200} {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("If-None-Match", sent)
			w := httptest.NewRecorder()
			p.Script(w, r, name)
			if w.Code != want || (w.Body.Len() == 0) != (want == 304) {
				t.Errorf("%s with %s: %d, %d bytes", name, sent, w.Code, w.Body.Len())
			}
		}
	}
}

func TestUnknownScriptIsNotFound(t *testing.T) {
	for _, name := range []string{"", "other.js", "../style.css", "wait.js/"} {
		w := httptest.NewRecorder()
		newPages(t, Config{}).Script(w, httptest.NewRequest("GET", "/", nil), name)
		if w.Code != 404 || w.Header().Get("ETag") != "" {
			t.Errorf("%q: %d", name, w.Code)
		}
	}
}

func TestScriptsUseNoMarkupInjectionOrEval(t *testing.T) {
	for name, s := range scripts {
		code := regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(s.body, "")
		if m := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(|setAttribute|import|postMessage|cookie|Storage`).FindString(code); m != "" {
			t.Errorf("%s has %s", name, m)
		}
		if !strings.Contains(code, "'use strict'") {
			t.Errorf("%s is not strict", name)
		}
	}
}
