package handler

import (
	"bytes"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/guard"
)

// PublishResource answers a request for the metadata of a resource, or a preflight for it:
// browsers send one because client libraries add header fields of their own.
func PublishResource(w http.ResponseWriter, r *http.Request, m guard.ResourceMetadata) {
	LeaveBody(w, r)
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD")
		h.Set("Access-Control-Allow-Headers", "*")
		h.Set("Access-Control-Max-Age", "600")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", m.ETag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(m.JSON))
}
