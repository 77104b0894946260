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

// descriptions is the part that describes the API.
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
	h.parts = append(h.parts, &descriptions{h: h, issuer: issuer, texts: texts})
	return nil
}

// serve implements part.
func (p *descriptions) serve(w http.ResponseWriter, c *call) (bool, error) {
	path := c.choice.Path
	if path != openapi.DocumentPath && path != openapi.PagePath {
		return false, nil
	}
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
	return true, p.server.Serve(w, c.Request, path, d)
}
