package authserver

import (
	"mime"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/webui"
)

// notFoundBody is the error of the specification: these addresses belong to no protocol.
type notFoundBody struct {
	Error struct {
		Code    string  `json:"code"`
		Message string  `json:"message"`
		Field   *string `json:"field"`
	} `json:"error"`
}

// notFound answers where there is nothing below the issuer: with the errors of Variant B below /sns/, whose callers
// read nothing else, with JSON to whoever asks for it, and otherwise with a page.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	switch {
	case strings.HasPrefix(r.URL.Path, s.base+"/sns/"):
		s.variantB.NotFound(w, r)
	case asksForJSON(r.Header.Values("Accept")):
		h.Add("Vary", "Accept")
		var body notFoundBody
		body.Error.Code, body.Error.Message = "not_found", "there is nothing at this address"
		s.respond.WriteJSON(w, http.StatusNotFound, body)
	default:
		h.Add("Vary", "Accept")
		s.page.Error(w, r, http.StatusNotFound, webui.ErrorView{Code: "not_found"})
	}
}

// asksForJSON reports whether an Accept names JSON and no HTML: browsers name HTML, whatever else they take.
func asksForJSON(accept []string) bool {
	asks := false
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			kind, params, err := mime.ParseMediaType(part)
			if err != nil || params["q"] == "0" {
				continue
			}
			switch {
			case kind == "text/html", kind == "application/xhtml+xml":
				return false
			case kind == "application/json", strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"):
				asks = true
			}
		}
	}
	return asks
}
