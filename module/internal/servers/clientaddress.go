package servers

import (
	"reflect"
	"slices"
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

// Proxies says which proxies a server believes when they tell the address of the client, and that it came over TLS.
type Proxies struct {
	Listen []string // the server's
	TCP    bool     // it has trusted_proxies
	Unix   bool     // it has trusted_proxies_unix
	Told   bool     // one of its listener_wrappers may learn the address from a proxy, as proxy_protocol does
}

// TellsAddress reports whether a module of listener_wrappers may learn the address of a client.
func TellsAddress(wrapper string) bool { return wrapper != "tls" && wrapper != "http_redirect" }

// Trusted reports whether the server believes proxies at any of its listeners.
func (p Proxies) Trusted() bool {
	return len(p.Listen) == 0 && p.TCP || slices.ContainsFunc(p.Listen, p.TrustedAt)
}

// TrustedAt reports whether the server believes proxies at a listener: at a TCP address those in trusted_proxies, at a
// Unix socket whoever connects, with trusted_proxies_unix, and nobody without it.
func (p Proxies) TrustedAt(listener string) bool {
	at, err := caddy.ParseNetworkAddress(listener)
	switch {
	case err == nil && at.IsUnixNetwork():
		return p.Unix
	case err == nil && at.IsFdNetwork(): // it may be either
		return p.Unix || p.TCP
	}
	return p.TCP
}

// WithoutAddress are the listeners at which no request has the address of a client: all callers are one there.
func (p Proxies) WithoutAddress() (all []string) {
	for _, l := range p.Listen {
		if at, err := caddy.ParseNetworkAddress(l); err == nil && at.IsUnixNetwork() && !p.Unix && !p.Told {
			all = append(all, l)
		}
	}
	return all
}

// WithoutAddressProblem and WithoutAddressRemedy are for operators of a server with listeners without address.
const (
	WithoutAddressProblem = "trusted_proxies and trusted_proxies_strict do not apply to Unix sockets, where no request has an address of its own: " +
		"all callers are one for limits by address, sign-in limits, jobs without a token and the audit trail, and any of them can use up what is for all"
	WithoutAddressRemedy = "if a proxy connects there, write `servers { trusted_proxies_unix }` into the global options, beside trusted_proxies_strict"
)

// WarnWithoutAddress logs, once for each server, that its handlers need the addresses of clients and do not get them.
func (s *Servers) WarnWithoutAddress(ctx caddy.Context) {
	to := Of(ctx)
	if to == nil || s.known[to].withoutAddress {
		return
	}
	s.known[to].withoutAddress = true
	if listen := proxiesOf(to).WithoutAddress(); len(listen) > 0 {
		s.log.Warn(WithoutAddressProblem+"; "+WithoutAddressRemedy, "server", to.Name(), "listen", listen)
	}
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
	if header == "" || !proxiesOf(to).Trusted() {
		return
	}
	s.log.Warn("clients can forge their address: Caddy takes the leftmost one in "+header+
		", and proxies that append to it, as nginx does, leave there what the client wrote; limits by address, sign-in limits and the audit trail believe it; "+ForgeryRemedy,
		"server", to.Name(), "listen", to.Listen)
}

// proxiesOf says which proxies a server believes. Caddy empties TrustedProxiesRaw and ListenerWrappersRaw before it
// provisions handlers and exports nothing else that would tell, so this looks which loaded modules are there.
func proxiesOf(server *caddyhttp.Server) Proxies {
	loaded := reflect.ValueOf(server).Elem().FieldByName("trustedProxies")
	return Proxies{
		Listen: server.Listen, Unix: server.TrustedProxiesUnix, Told: toldByWrapper(server),
		TCP: server.TrustedProxiesRaw != nil || loaded.Kind() == reflect.Interface && !loaded.IsNil(),
	}
}

// ownWrappers are the types of Caddy's wrappers `tls` and `http_redirect`.
var ownWrappers = []string{"*caddyhttp.tlsPlaceholderWrapper", "*caddyhttp.HTTPRedirectListenerWrapper"}

func toldByWrapper(server *caddyhttp.Server) bool {
	wrappers := reflect.ValueOf(server).Elem().FieldByName("listenerWrappers")
	if wrappers.Kind() != reflect.Slice {
		return false
	}
	for i := range wrappers.Len() {
		if one := wrappers.Index(i); one.Kind() == reflect.Interface && !one.IsNil() && !slices.Contains(ownWrappers, one.Elem().Type().String()) {
			return true
		}
	}
	return false
}
