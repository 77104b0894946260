package page

import (
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/webui"
)

// Writer answers browsers. All fields are needed.
type Writer struct {
	Site  Site
	Pages *webui.Pages
	Log   *slog.Logger
	// RequestID returns what the logs call a request, for error pages to show; "" for none.
	RequestID func(*http.Request) string
}

// Handler answers a browser's request, or returns what went wrong for Fail to answer.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Handle makes an http.HandlerFunc of the handlers for POST and for everything else. Either may
// be nil when the route does not allow its methods.
func (p *Writer) Handle(get, post Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := get
		if r.Method == http.MethodPost {
			h = post
		}
		if err := h(w, r); err != nil {
			p.fail(w, r, err)
		}
	}
}

// Script serves a file of our pages.
func (p *Writer) Script(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { p.Pages.Script(w, r, name) }
}
