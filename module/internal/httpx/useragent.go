package httpx

import (
	"net/http"
	"strings"
)

// maxUserAgent is the maximum number of bytes kept of a User-Agent.
const maxUserAgent = 256

// UserAgent returns the beginning of a request's User-Agent, to be stored and displayed.
func UserAgent(r *http.Request) string {
	ua := r.UserAgent()
	return strings.ToValidUTF8(ua[:min(len(ua), maxUserAgent)], "")
}
