package servers

import (
	"reflect"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// ForgeryRemedy is what an operator writes so that clients cannot forge their address.
const ForgeryRemedy = "write `servers { trusted_proxies_strict }` into the global options, and name only the proxies' own addresses in trusted_proxies"

// ForgeableAddressHeader is the header in which clients can forge their address on a
// server that trusts proxies, or "" if there is none. Proxies such as nginx append to
// X-Forwarded-For, so its leftmost address, which Caddy takes unless strict is on, is the
// client's own claim. Headers that carry one address, such as X-Real-IP and
// CF-Connecting-IP, are overwritten by the proxy that sets them: strict changes nothing
// there. headers is the server's client_ip_headers; none means X-Forwarded-For.
func ForgeableAddressHeader(strict bool, headers []string) string {
	if strict {
		return ""
	}
	if headers == nil {
		return "X-Forwarded-For"
	}
	for _, h := range headers {
		// Products have names of their own for the same list: X-Original-Forwarded-For.
		if strings.HasSuffix(strings.ToLower(h), "forwarded-for") {
			return h
		}
	}
	return ""
}

// WarnForgeableAddress logs, once for each server, that clients can forge the address that
// limits, sign-in limits and the audit trail use.
func (s *Servers) WarnForgeableAddress(ctx caddy.Context) {
	to := Of(ctx)
	if to == nil || s.known[to].addressChecked {
		return
	}
	s.known[to].addressChecked = true
	header := ForgeableAddressHeader(to.TrustedProxiesStrict > 0, to.ClientIPHeaders)
	if header == "" || !trustsProxies(to) {
		return
	}
	s.log.Warn("clients can forge their address: Caddy takes the leftmost one in "+header+
		", and proxies that append to it, as nginx does, leave there what the client wrote; limits by address, sign-in limits and the audit trail believe it; "+ForgeryRemedy,
		"server", to.Name(), "listen", to.Listen)
}

// trustsProxies reports whether a server takes client addresses from headers. Caddy
// empties TrustedProxiesRaw before it provisions handlers and exports nothing else that
// would tell, so this looks whether the loaded module is there.
func trustsProxies(server *caddyhttp.Server) bool {
	loaded := reflect.ValueOf(server).Elem().FieldByName("trustedProxies")
	return server.TrustedProxiesUnix || server.TrustedProxiesRaw != nil ||
		loaded.Kind() == reflect.Interface && !loaded.IsNil()
}
