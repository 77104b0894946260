package restapi

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/rest/openapi"
	"github.com/gatehouse/gatehouse/module/webui"
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

// described is the part that describes the API. The guard in front decides who may read
// it, as with any path.
type described struct {
	h      *REST
	issuer string
	texts  map[string]string
}

func (h *REST) describe(ctx caddy.Context) error {
	if h.OpenAPI == nil {
		return nil
	}
	issuer, texts, err := gateway.Describe(ctx)
	if err != nil {
		return err
	}
	h.parts = append(h.parts, &described{h, issuer, texts})
	return nil
}

// serve implements part.
func (p *described) serve(w http.ResponseWriter, c *call) (bool, error) {
	path := c.choice.Path
	if path != documentPath && path != pagePath {
		return false, nil
	}
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return true, allow(w, c.r, "GET, HEAD, OPTIONS")
	}
	document, err := openapi.Document(p.config(c))
	if err != nil {
		return true, gateway.Fail(http.StatusInternalServerError, "", "", err)
	}
	w.Header().Set("Cache-Control", "no-cache") // a reload may change it
	if path == pagePath {
		return true, webui.API(w, c.r, document, c.prefix+documentPath)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	if c.r.Method != http.MethodHead {
		_, _ = w.Write(document) // fails only when the client has gone
	}
	return true, nil
}

// config is for a version, and for the guard that the request came through.
func (p *described) config(c *call) openapi.Config {
	d := openapi.Config{Title: p.h.OpenAPI.Title, Server: c.prefix, Table: c.table, Jobs: p.h.Jobs}
	if v := c.choice.Version; v != nil {
		d.Version, d.Deprecated = v.Name, !v.Deprecated.IsZero()
		if p.h.Vendor != "" {
			d.MediaType = "application/vnd." + p.h.Vendor + "." + v.Name + "+json"
		}
	}
	if needs := gateway.Needs(c.r); needs != nil {
		d.Issuer, d.Texts = p.issuer, p.texts
		d.Needs = func(method, path string) openapi.Need {
			scopes, public, denied := needs(method, path)
			return openapi.Need{Scopes: scopes, Public: public, Denied: denied}
		}
	}
	return d
}
