package authserver

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"

	"github.com/gatehouse/gatehouse/module/internal/webui"
)

// overloaded are the answers to requests that are refused because there are too many, ready
// to be sent: a refusal must cost much less than the work it saves.
type overloaded struct {
	json  []byte
	pages map[string]readyPage // by language
}

// readyPage is an answer that was made before.
type readyPage struct {
	header http.Header
	body   bytes.Buffer
}

func (p *readyPage) Header() http.Header         { return p.header }
func (p *readyPage) Write(b []byte) (int, error) { return p.body.Write(b) }
func (p *readyPage) WriteHeader(int)             {}

func newOverloaded(pages *webui.Pages) overloaded {
	o := overloaded{
		json:  []byte(`{"error":"temporarily_unavailable","error_description":"there are too many requests at the moment, try again later","field":null}`),
		pages: make(map[string]readyPage),
	}
	for _, lang := range pages.Languages() {
		p := readyPage{header: make(http.Header)}
		pages.Error(&p, http.StatusServiceUnavailable, webui.ErrorView{Lang: lang, Code: "unavailable"})
		p.header.Del("Cross-Origin-Opener-Policy") // the route decides
		o.pages[lang] = p
	}
	return o
}

// AlwaysAdmitted reports whether a request is worked on under overload, too.
func (s *Server) AlwaysAdmitted(r *http.Request) bool {
	rt, _ := s.findRoute(r.URL.Path)
	return rt.always
}

// ShowsCredentials reports whether a request seems to be from an authenticated client, without reading its body or
// asking the store. Browsers do not count: everybody who was shown a page has a cookie.
func (s *Server) ShowsCredentials(r *http.Request) bool {
	rt, ok := s.findRoute(r.URL.Path)
	return ok && !rt.page && (!rt.anonymous || r.Header.Get("Authorization") != "")
}

// Overloaded refuses a request, in the form of its endpoint, for so many seconds.
func (s *Server) Overloaded(w http.ResponseWriter, r *http.Request, retryAfter int) {
	h := w.Header()
	rt, ok := s.begin(w, r)
	if ok && s.answerCORS(w, r, rt) {
		return
	}
	h.Set("Retry-After", strconv.Itoa(retryAfter))
	switch {
	case rt.overloaded != nil:
		rt.overloaded(w, r)
	case !ok || rt.page:
		ready := s.overloaded.pages[s.Pages.Language(r, "")]
		for name, values := range ready.header {
			h[name] = slices.Clip(values)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write(ready.body.Bytes()) // the client is gone: nobody is left to tell
	default:
		h.Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write(s.overloaded.json)
	}
}
