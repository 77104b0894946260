package webui

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// dir makes a directory of files from names and contents.
func dir(t *testing.T, files ...string) string {
	t.Helper()
	d := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(d, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestTemplateDirectoryOverridesBuiltInFiles(t *testing.T) {
	d := dir(t,
		"login.html", `{{define "title"}}Welcome{{end}}{{define "main"}}<h1>{{.T "login.heading"}} to {{.View.Client}} ({{.Site}})</h1>{{end}}`,
		"style.css", "h1{color:teal}",
		"en.json", `{"login.heading": "Please sign in"}`,
		"README.md", "not ours")
	p := newPages(t, Config{Name: "Press", Templates: d})
	w := httptest.NewRecorder()
	p.Login(w, 200, LoginView{Form: testForm, Client: "<Reader>"})
	root := parsed(t, w.Body.String())
	if got := text(all(root, "h1")[0]); got != "Please sign in to <Reader> (Press)" {
		t.Errorf("heading %q", got)
	}
	if got := text(all(root, "title")[0]); got != "Welcome · Press" {
		t.Errorf("title %q", got)
	}
	if !strings.Contains(w.Body.String(), "h1{color:teal}") || strings.Contains(w.Body.String(), ".field") {
		t.Error("the style is not the one of the directory")
	}
	if !strings.Contains(w.Body.String(), settle) {
		t.Error("with another style, buttons take the second click of a double click elsewhere")
	}
	w = httptest.NewRecorder()
	p.Logout(w, 200, LogoutView{Form: testForm})
	if got := text(all(parsed(t, w.Body.String()), "h1")[0]); got != "Sign out?" {
		t.Errorf("the other pages stay as they are: %q", got)
	}
}

func TestCustomLayoutAppliesToEveryPage(t *testing.T) {
	p := newPages(t, Config{Templates: dir(t, "layout.html",
		`<!doctype html><html lang="{{.Lang}}"><title>{{template "title" .}}</title>{{.Style}}<body><nav>Ours</nav>{{template "main" .}}`)})
	for _, s := range states {
		if _, root := s.page(t, p, "zh"); len(all(root, "nav")) != 1 || len(all(root, "h1")) != 1 {
			t.Errorf("%s has another layout", s.name)
		}
	}
}

func TestLanguageCanComeFromTheTemplateDirectory(t *testing.T) {
	german := builtinTexts(t, "en.json")
	delete(german, "html.lang")
	german["login.heading"] = "Anmelden"
	b, err := json.Marshal(german)
	if err != nil {
		t.Fatal(err)
	}
	p := newPages(t, Config{Languages: []string{"en", "de"}, Templates: dir(t, "de.json", string(b))})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Language", "de-AT")
	lang := p.Language(r, "")
	w := httptest.NewRecorder()
	p.Login(w, 200, LoginView{Form: form(lang)})
	root := parsed(t, w.Body.String())
	if got := text(all(root, "h1")[0]); lang != "de" || got != "Anmelden" {
		t.Errorf("%s: %q", lang, got)
	}
	if got := attr(all(root, "html")[0], "lang"); got != "de" {
		t.Errorf("lang %q", got)
	}
}

func TestBadOverrideErrorNamesFileAndLine(t *testing.T) {
	const title = `{{define "title"}}x{{end}}` + "\n"
	for _, c := range []struct {
		name, file, content string
		want                []string
	}{
		{"syntax", "login.html", title + `{{define "main"}}` + "\n{{if}}{{end}}{{end}}", []string{"login.html:3"}},
		{"unclosed", "consent.html", title + "{{define \"main\"}}", []string{"consent.html:2"}},
		{"unknown field", "login.html", title + "{{define \"main\"}}\n\n{{.View.Pasword}}{{end}}", []string{"login.html:4", "Pasword"}},
		{"field of a rare state", "logout.html", title + "{{define \"main\"}}{{if .View.Done}}\n{{.View.Server}}{{end}}{{end}}", []string{"logout.html:3", "Server"}},
		{"unknown text", "error.html", title + "{{define \"main\"}}\n{{.T \"eror\"}}{{end}}", []string{"error.html:3", `no text "eror"`}},
		{"unknown function", "login.html", title + "\n{{define \"main\"}}{{upper .Site}}{{end}}", []string{"login.html:3", "upper"}},
		{"cannot be escaped", "login.html", title + "{{define \"main\"}}\n<a href='{{if .Site}}x'{{end}}>{{end}}", []string{"login.html:3"}},
		{"no main", "login.html", title, []string{"login.html:1", `"main"`}},
		{"form without a token", "login.html", title + `{{define "main"}}<form method=post action={{.View.Action}}><input name=username><input name=password></form>{{end}}`, []string{"login in en", "{{.View.Token}}"}},
		{"layout", "layout.html", "<p>\n{{template \"body\" .}}", []string{"layout.html:2", "body"}},
		{"misspelt name", "logn.html", "", []string{"logn.html", "login"}},
		{"style", "style.css", "a{}</STYLE><script>", []string{"style.css"}},
		{"broken texts", "en.json", "{\n\"login.heading\": \"a\",\n}", []string{"en.json", "line 3"}},
		{"texts of another kind", "en.json", "{\n\"login.heading\": 7}", []string{"en.json", "line 2"}},
		{"misspelt text", "zh.json", `{"login.headng": "a"}`, []string{"zh.json", "login.headng"}},
		{"blank nothing fills in", "zh.json", `{"login.heading": "{client}"}`, []string{"zh.json", "{client}"}},
		{"emptied text", "zh.json", `{"login.heading": ""}`, []string{"zh.json", "login.heading"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := dir(t, c.file, c.content)
			_, err := New(Config{Templates: d})
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range append(c.want, d) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %v", want, err)
				}
			}
		})
	}
}

func TestUnreadableOverrideIsAnError(t *testing.T) {
	for _, name := range []string{"login.html", "layout.html", "style.css", "en.json"} {
		d := dir(t)
		if err := os.Symlink(filepath.Join(d, "gone"), filepath.Join(d, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Config{Templates: d}); err == nil || !strings.Contains(err.Error(), filepath.Join(d, name)) {
			t.Errorf("%s leads nowhere: %v", name, err)
		}
	}
}

func TestMissingTemplateDirectoryIsAnError(t *testing.T) {
	d := filepath.Join(t.TempDir(), "none")
	if _, err := New(Config{Templates: d}); err == nil || !strings.Contains(err.Error(), d) {
		t.Errorf("%v", err)
	}
}

func TestLateTemplateFailureIsAPlain500(t *testing.T) {
	// index fails for this one name only, which no trial can know.
	d := dir(t, "login.html", `{{define "title"}}x{{end}}{{define "main"}}<h1>half a page</h1>{{if eq .View.Username "odd"}}{{index .View.Username 99}}{{end}}{{end}}`)
	var log bytes.Buffer
	p := newPages(t, Config{Templates: d, Log: slog.New(slog.NewTextHandler(&log, nil))})
	w := httptest.NewRecorder()
	p.Login(w, 200, LoginView{Form: testForm, Username: "odd"})
	if w.Code != 500 || strings.Contains(w.Body.String(), "half") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Language") != "" {
		t.Errorf("headers %v", w.Header())
	}
	if !strings.Contains(log.String(), "login.html") {
		t.Errorf("log %q", &log)
	}
	for _, secret := range []string{testForm.Token, testForm.Request} {
		if strings.Contains(log.String(), secret) {
			t.Error("a secret in the log")
		}
	}
}
