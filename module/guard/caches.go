package guard

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// VaryByToken adds `Vary: Authorization` to a response that depends on a token, so that a shared cache in front of the gateway
// gives it to no other caller, or to one without a token. By RFC 9111 section 3.5 that is needed only with `public`,
// `s-maxage` or `must-revalidate`, but nginx and most CDNs store whatever has a lifetime, and a deferred `header` of the
// site may set one after this. Browsers may store it as before.
func VaryByToken(h http.Header) {
	if len(h["Vary"]) == 0 {
		h["Vary"] = []string{"Authorization, Accept-Encoding"} // for which Caddy's encode would add a line
		return
	}
	httpx.AddVary(h, "Authorization", "Accept-Encoding")
}

// KeepFromCaches is for a response that an error handler of the site may write: what it says of one caller must not take
// the place of what others get at the address. An error handler that proxies adds its fields to these, and for caches
// `no-store` then prevails; one that sets a Cache-Control of its own leaves the Vary.
func KeepFromCaches(h http.Header) {
	h.Set("Cache-Control", "no-store")
	VaryByToken(h)
}
