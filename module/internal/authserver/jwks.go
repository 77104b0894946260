package authserver

import (
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// published answers may be kept for five minutes: the time after which a relying
// party is sure to know a new key, so rotation publishes one at least as early.
const published = "public, max-age=300"

// jwks serves the public keys (RFC 7517 section 5).
func (s *Server) jwks(w http.ResponseWriter, r *http.Request) {
	keys, err := s.Tokens.PublicKeys(r.Context())
	if err != nil {
		s.respond.WriteError(w, oauth.Unavailable(err))
		return
	}
	publish(w, r, document{body: keys.JSON, etag: keys.ETag})
}

// document is JSON that everybody may read and keep.
type document struct {
	body []byte
	etag string // strong, quoted
}

func publish(w http.ResponseWriter, r *http.Request, d document) {
	h := w.Header()
	h.Set("Cache-Control", published)
	h.Set("ETag", d.etag)
	if unchanged(r.Header.Values("If-None-Match"), d.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(d.body) // the client is gone: nobody is left to tell
	}
}

// unchanged is the weak comparison of RFC 9110 section 13.1.2. Compressing
// middleware makes our ETag weak, so the weak form comes back.
func unchanged(ifNoneMatch []string, etag string) bool {
	for tag := range strings.SplitSeq(strings.Join(ifNoneMatch, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}
