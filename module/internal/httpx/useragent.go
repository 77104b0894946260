package httpx

import (
	"net/http"
	"strings"
)

// maxUserAgent is how much of a User-Agent is kept, in bytes.
const maxUserAgent = 256

// UserAgent returns the beginning of the request's User-Agent, to be stored and shown.
func UserAgent(r *http.Request) string {
	ua := r.UserAgent()
	return strings.ToValidUTF8(ua[:min(len(ua), maxUserAgent)], "")
}
