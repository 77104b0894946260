package restapi

import (
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/rest/openapi"
)

// OpenAPI configures the description of the API.
type OpenAPI struct {
	// The title of the description. Default: `API`.
	Title string `json:"title,omitempty"`
}

// descriptions describes the API.
type descriptions struct {
	h      *REST
	issuer string
	texts  map[string]string // of scopes
	server openapi.Server
}

func (h *REST) provisionOpenAPI(ctx caddy.Context) error {
	if h.OpenAPI == nil {
		return nil
	}
	issuer, texts, err := gateway.Describe(ctx)
	if err != nil {
		return fmt.Errorf("openapi: %w", err)
	}
	h.descriptions = &descriptions{h: h, issuer: issuer, texts: texts}
	return nil
}

// serve answers with the description of a version, as a document or a page.
func (p *descriptions) serve(w http.ResponseWriter, c *call) error {
	d := openapi.Config{Title: p.h.OpenAPI.Title, Server: c.Prefix, Table: c.table, Jobs: p.h.Jobs}
	if v := c.choice.Version; v != nil {
		d.Version, d.Deprecated, d.Sunset = v.Name, !v.Deprecated.IsZero(), v.Sunset
		if p.h.Vendor != "" {
			d.MediaType = "application/vnd." + p.h.Vendor + "." + v.Name + "+json"
		}
	}
	if needs := handler.NeedsOf(c.Request); needs != nil {
		d.Needs, d.Issuer, d.Texts = needs, p.issuer, p.texts
	}
	return p.server.Serve(w, c.Request, c.choice.Path, d)
}
