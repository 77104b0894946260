package api

import (
	"encoding/json"
	"net/http"
	"time"
)

// Options of the API. The zero value works.
type Options struct {
	// Articles is the number of articles to begin with. Default: 312.
	Articles int
	// Import is how long an import takes. Default: 5 s; negative: no time.
	Import time.Duration
	// Now is the clock that dates new articles. Default: time.Now.
	Now func() time.Time
}

type api struct {
	shelf  *shelf
	school *school
	pause  time.Duration
}

// New returns the API, with the same articles and students each time.
func New(o Options) http.Handler {
	if o.Articles == 0 {
		o.Articles = 312
	}
	if o.Import == 0 {
		o.Import = 5 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	a := &api{shelf: newShelf(o.Articles, o.Now), school: newSchool(), pause: o.Import}
	mux := http.NewServeMux()
	mux.HandleFunc("/api.php", a.script)
	mux.HandleFunc("GET /articles", a.articles)
	mux.HandleFunc("GET /articles/{id}", a.article)
	mux.HandleFunc("GET /profile", a.profile)
	mux.HandleFunc("GET /import", a.importNow)
	mux.HandleFunc("POST /import", a.importNow)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("/", notFoundPage)
	return mux
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the reader has gone: there is nobody to tell
}
