package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// distrusted says why a request to the admin API is refused, "" if it is not. The API has no
// authentication of its own: whoever reaches it manages every user. So the network, proxies
// and pages in a local browser must not reach it.
func distrusted(r *http.Request) string {
	if r.TLS != nil {
		return "the gateway's admin API is not served on Caddy's remote admin endpoint; use the local one"
	}
	if !listensLocally(r) {
		return "the gateway's admin API answers only when Caddy's admin endpoint listens on a loopback address or a unix socket; set the global option `admin localhost:2019` or `admin unix//run/caddy-admin.sock`"
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") {
			return "browsers are not served here"
		}
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "Via" {
			return "the request came through a proxy; the gateway's admin API is for processes of this machine"
		}
	}
	if !ownOrigin(r) {
		return "the Origin is not that of the admin endpoint; browsers are not served here"
	}
	return ""
}

// listensLocally reports whether the endpoint can be reached from this machine only. The address
// of the connection is not enough, because a listener on all interfaces has loopback connections,
// too. So it also checks the address that Caddy listens on.
func listensLocally(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	switch at := local.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		if !at.IP.IsLoopback() {
			return false
		}
	default:
		return false
	}
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return false
	}
	listen, err := caddy.ParseNetworkAddress(server.Addr)
	if err != nil || listen.IsFdNetwork() || listen.Host == "" {
		return false // an inherited socket may be bound to every interface
	}
	// A name is bound to the one address of this connection.
	ip, err := netip.ParseAddr(listen.Host)
	return err != nil || ip.IsLoopback()
}

// ownOrigin reports whether the Origin, if there is one, is the admin endpoint itself, as Caddy's
// commands send it. Caddy compares it with its `origins`, which an operator may have extended for
// another page; that page must not manage users.
func ownOrigin(r *http.Request) bool {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 {
		return true
	}
	u, err := url.Parse(sent[0])
	return len(sent) == 1 && err == nil && u.Scheme == "http" && strings.EqualFold(u.Host, r.Host) && *u == url.URL{Scheme: u.Scheme, Host: u.Host}
}
