package discovery

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
)

// cacheControl lets answers be kept for five minutes. After that time a relying party is sure to know a new key, so
// rotation publishes a key at least that early.
const cacheControl = "public, max-age=300"

// document is public JSON that may be cached.
type document struct {
	body []byte
	etag string // strong, quoted
}

func publish(w http.ResponseWriter, r *http.Request, d document) {
	h := w.Header()
	h.Set("Cache-Control", cacheControl)
	h.Set("ETag", d.etag)
	if matchesETag(r.Header.Values("If-None-Match"), d.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", oauthhttp.JSONType)
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(d.body) // fails only when the client has gone
	}
}

// matchesETag is the weak comparison of RFC 9110 section 13.1.2: compressing middleware makes our ETag weak, and the
// weak form comes back.
func matchesETag(ifNoneMatch []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(ifNoneMatch, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}
