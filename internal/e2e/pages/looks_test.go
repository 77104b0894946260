package pages

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
)

const webui = "../../../module/internal/webui/"

var languages = []string{"en", "zh"}

func TestEveryPageIsAccessibleAndFitsInEveryLanguageThemeAndSize(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	path, picture := gatewaytest.Picture(t)
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(picture) })
	var names []string
	for _, p := range gatewaytest.Pages(t, server.URL) {
		names = append(names, p.Name)
		mux.HandleFunc("GET /"+p.Name+"/{lang}", func(w http.ResponseWriter, r *http.Request) { p.Write(w, r.PathValue("lang")) })
	}
	env := []string{"ORIGIN=" + server.URL, "NAMES=" + strings.Join(names, " ")}
	if os.Getenv("GATEHOUSE_SCREENSHOTS") != "" {
		env = append(env, "SHOTS="+harness.Pictures(t, "pages"))
	}
	harness.Node(t, 15*time.Minute, "looks.js", env, nil)
}

// written returns what is on all pages in all languages.
func written(pages []gatewaytest.Page) string {
	var all bytes.Buffer
	for _, lang := range languages {
		for _, p := range pages {
			w := httptest.NewRecorder()
			p.Write(w, lang)
			all.Write(w.Body.Bytes())
		}
	}
	return html.UnescapeString(all.String())
}

func TestNoTemplateIsLeftOut(t *testing.T) {
	templates, err := filepath.Glob(webui + "*/*.html")
	harness.FailOn(t, err)
	pages := gatewaytest.Pages(t, "http://127.0.0.1")
	for _, file := range templates {
		name := strings.TrimSuffix(filepath.Base(file), ".html")
		if filepath.Base(filepath.Dir(file)) == "api" {
			name = "api"
		}
		seen := name == "layout" // every page has it
		for _, p := range pages {
			seen = seen || p.Name == name || strings.HasPrefix(p.Name, name+"-")
		}
		if !seen {
			t.Errorf("no page is made with %s", file)
		}
	}
	if len(templates) < 10 {
		t.Error("the templates are elsewhere:", templates)
	}
}

// Every text is on a page, so no state of a template with words of its own is left out.
func TestNoTextIsLeftOut(t *testing.T) {
	filled := regexp.MustCompile(`\{[a-z]+\}`)
	seen := written(gatewaytest.Pages(t, "http://127.0.0.1"))
	for _, lang := range languages {
		raw, err := os.ReadFile(webui + "translations/" + lang + ".json")
		harness.FailOn(t, err)
		var texts map[string]string
		harness.FailOn(t, json.Unmarshal(raw, &texts))
		for key, text := range texts {
			if strings.HasPrefix(key, "time.") { // layouts of dates
				continue
			}
			for _, part := range filled.Split(text, -1) {
				if !strings.Contains(seen, part) {
					t.Errorf("%s: %s is on no page: %q", lang, key, part)
				}
			}
		}
	}
}
