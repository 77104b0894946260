package restapi

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/etag"
	"github.com/gatehouse/gatehouse/module/internal/rest/openapi"
	"github.com/gatehouse/gatehouse/module/internal/rest/operation"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// OpenAPI is how the API is described.
type OpenAPI struct {
	// The title of the description. Default: `API`.
	Title string `json:"title,omitempty"`
}

const (
	documentPath = "/openapi.json"
	pagePath     = "/openapi"
)

// maxDescriptions is how many descriptions are kept. There is one for each version, guard
// and prefix; a prefix may be what a client wrote, where a matcher with a wildcard stands
// in front of `uri strip_prefix`. Those beyond are made anew for each request.
const maxDescriptions = 16

// described is the part that describes the API. The guard in front decides who may read
// it, as with any path.
type described struct {
	h      *REST
	issuer string
	texts  map[string]string

	mu   sync.Mutex
	kept map[variant]*description
}

// variant is what makes one description differ from another.
type variant struct {
	version int
	prefix  string
	needs   handler.Needs
}

// description is the API described, ready to be sent.
type description struct {
	document shown
	pages    []shown // by language
}

// shown is one answer.
type shown struct {
	header http.Header
	body   []byte
	tag    etag.Tag
}

func (h *REST) describe(ctx caddy.Context) error {
	if h.OpenAPI == nil {
		return nil
	}
	issuer, texts, err := gateway.Describe(ctx)
	if err != nil {
		return err
	}
	h.parts = append(h.parts, &described{h: h, issuer: issuer, texts: texts, kept: make(map[variant]*description)})
	return nil
}

// serve implements part.
func (p *described) serve(w http.ResponseWriter, c *call) (bool, error) {
	path := c.choice.Path
	if path != documentPath && path != pagePath {
		return false, nil
	}
	if c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
		return true, operation.Allow(w, c.Request, "GET, HEAD, OPTIONS")
	}
	d, err := p.description(c)
	switch {
	case err != nil:
		return true, envelope.Fail(http.StatusInternalServerError, "", "", err)
	case path == pagePath:
		d.pages[webui.APILanguage(c.Request)].serve(w, c.Request)
	default:
		d.document.serve(w, c.Request)
	}
	return true, nil
}

// description is made when it is first asked for.
func (p *described) description(c *call) (*description, error) {
	v := variant{c.choice.Index, c.Prefix, handler.NeedsOf(c.Request)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.kept[v]; d != nil {
		return d, nil
	}
	d, err := p.make(c, v)
	if err == nil && len(p.kept) < maxDescriptions {
		p.kept[v] = d
	}
	return d, err
}

func (p *described) make(c *call, v variant) (*description, error) {
	document, err := openapi.Document(p.config(c, v))
	if err != nil {
		return nil, err
	}
	pages, err := webui.APIPages(document, c.Prefix+documentPath)
	if err != nil {
		return nil, err
	}
	cache := "no-cache" // a reload may change it; the tag makes asking cheap
	if v.needs != nil {
		if _, public, _ := v.needs.Needs(http.MethodGet, c.Prefix+documentPath); !public {
			cache = "private, no-cache"
		}
	}
	d := &description{document: shownAs(http.Header{"Content-Type": {"application/json"}, "X-Content-Type-Options": {"nosniff"}}, document, cache)}
	for _, page := range pages {
		d.pages = append(d.pages, shownAs(page.Header, page.Body, cache))
	}
	return d, nil
}

func shownAs(header http.Header, body []byte, cache string) shown {
	s := shown{header, body, etag.OfBody(body)}
	header.Set("Cache-Control", cache)
	header.Set("Etag", s.tag.String())
	return s
}

func (s *shown) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, values := range s.header {
		if name == "Vary" {
			h[name] = append(h[name], values...)
			continue
		}
		h[name] = values
	}
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

// config is for a version, and for the guard that the request came through.
func (p *described) config(c *call, v variant) openapi.Config {
	d := openapi.Config{Title: p.h.OpenAPI.Title, Server: c.Prefix, Table: c.table, Jobs: p.h.Jobs}
	if v := c.choice.Version; v != nil {
		d.Version, d.Deprecated, d.Sunset = v.Name, !v.Deprecated.IsZero(), v.Sunset
		if p.h.Vendor != "" {
			d.MediaType = "application/vnd." + p.h.Vendor + "." + v.Name + "+json"
		}
	}
	if v.needs != nil {
		d.Issuer, d.Texts = p.issuer, p.texts
		d.Needs = func(method, path string) openapi.Need {
			scopes, public, denied := v.needs.Needs(method, path)
			return openapi.Need{Scopes: scopes, Public: public, Denied: denied}
		}
	}
	return d
}
