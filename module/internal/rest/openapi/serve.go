package openapi

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// The paths of a description, behind the version.
const (
	DocumentPath = "/openapi.json"
	PagePath     = "/openapi"
)

// maxKept is how many descriptions a Server keeps. There is one for each version, guard and prefix;
// clients choose the prefix where a matcher with a wildcard stands in front of `uri strip_prefix`.
// Further ones are generated for each request.
const maxKept = 16

// Server serves descriptions of an API. The guard in front decides who may read them. The zero value
// is ready for use.
type Server struct {
	making sync.Mutex // held while a description is generated, one at a time
	mu     sync.Mutex // held for a moment
	kept   map[variant]*description
}

// variant is what descriptions of one API differ in.
type variant struct {
	version, server string
	needs           Needs
}

// description is an API described, ready to be sent.
type description struct {
	document response
	pages    []response // by language
}

type response struct {
	header http.Header
	body   []byte
	tag    etag.Tag
}

// Serve answers a request for DocumentPath, or for PagePath, with the description of c.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, path string, c Config) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return operation.Allow(w, r, "GET, HEAD, OPTIONS")
	}
	d, err := s.describe(c)
	switch {
	case err != nil:
		return envelope.Fail(http.StatusInternalServerError, "", "", err)
	case path == PagePath:
		d.pages[webui.APILanguage(r)].serve(w, r)
	default:
		d.document.serve(w, r)
	}
	return nil
}

// describe returns the description of c, which is generated when it is first asked for. Requests for one that is kept
// do not wait for others.
func (s *Server) describe(c Config) (*description, error) {
	v := variant{c.Version, c.Server, c.Needs}
	if d := s.find(v); d != nil {
		return d, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	if d := s.find(v); d != nil { // somebody else has asked for it meanwhile
		return d, nil
	}
	d, err := newDescription(c)
	if err == nil {
		s.keep(v, d)
	}
	return d, err
}

func (s *Server) find(v variant) *description {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[v]
}

func (s *Server) keep(v variant, d *description) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept) >= maxKept {
		return
	}
	if s.kept == nil {
		s.kept = make(map[variant]*description)
	}
	s.kept[v] = d
}

func newDescription(c Config) (*description, error) {
	document, err := Document(c)
	if err != nil {
		return nil, err
	}
	pages, err := webui.APIPages(document, c.Server+DocumentPath)
	if err != nil {
		return nil, err
	}
	cache := "no-cache" // a reload may change it; the tag makes asking cheap
	if c.Needs != nil {
		if _, public, _ := c.Needs.Needs(http.MethodGet, c.Server+DocumentPath); !public {
			cache = "private, no-cache"
		}
	}
	d := &description{document: newResponse(http.Header{"Content-Type": {"application/json"}, "X-Content-Type-Options": {"nosniff"}}, document, cache)}
	for _, page := range pages {
		d.pages = append(d.pages, newResponse(page.Header, page.Body, cache))
	}
	return d, nil
}

func newResponse(header http.Header, body []byte, cache string) response {
	tag := etag.OfBody(body)
	header.Set("Cache-Control", cache)
	header.Set("Etag", tag.String())
	return response{header, body, tag}
}

func (s *response) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	vary := h["Vary"]
	maps.Copy(h, s.header)
	h["Vary"] = slices.Concat(vary, s.header["Vary"]) // not the slice that all requests share
	if held, ok := etag.ParseList(r.Header["If-None-Match"]); ok && (held.Any || held.Resembles(s.tag)) {
		h.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(s.body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(s.body) // fails only when the client has gone
	}
}
