package guard

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// VaryByToken adds `Vary: Authorization` to a response that its API permits caches to store, so that a shared cache
// in front of the gateway gives it to no other caller, or to one without a token. By RFC 9111 section 3.5 that is needed
// only with `public`, `s-maxage` or `must-revalidate`, but nginx and most CDNs store whatever has a lifetime.
// Browsers may store it as before.
func VaryByToken(h http.Header) {
	if httpx.IsStorable(h) {
		httpx.AddVary(h, "Authorization")
	}
}
