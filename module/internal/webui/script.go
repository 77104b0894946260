package webui

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

// scripts are what [Pages.Script] serves, by name.
var scripts = map[string]script{
	"wait.js":  {"same-origin", loadScript("wait.js")},
	"times.js": {"same-origin", loadScript("times.js")},
	// Other sites load it, including those with Cross-Origin-Embedder-Policy.
	"login.js": {"cross-origin", loadScript("login.js")},
}

type script struct {
	policy string // Cross-Origin-Resource-Policy
	body   string
}

func loadScript(name string) string {
	b, err := embedded.ReadFile("scripts/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(b)
}

// Script writes "wait.js", which runs on the page with a code to scan, "times.js", which runs on
// the account page, or "login.js", with which other sites frame the page with a code.
func (p *Pages) Script(w http.ResponseWriter, r *http.Request, name string) {
	s, ok := scripts[name]
	if !ok {
		p.Error(w, http.StatusNotFound, ErrorView{Lang: p.Language(r, ""), Code: "not_found"})
		return
	}
	sum := sha256.Sum256([]byte(s.body))
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	h := w.Header()
	// Short, because page and script must match after an update.
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", etag)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", s.policy)
	if strings.Contains(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(s.body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(s.body)) // fails only when the browser has gone
}
