package handler

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/fairshare"
)

// ClientIP is the address that the server's trusted_proxies settle on. It is never read from
// a header of the request here.
func ClientIP(r *http.Request) string {
	ip, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	return ip
}

// ClientAddress is the address from which a request came; of an IPv6 address, that of its
// /64. It is "" for what is no address.
func ClientAddress(r *http.Request) string {
	if networks := fairshare.From(ClientIP(r)).Networks(); len(networks) > 0 {
		return networks[0].Addr().String()
	}
	return ""
}

// ClientNetwork is the network from which a request came, an IPv4 /24 or IPv6 /48: few people
// have many of those at hand. It is "" for what is no address.
func ClientNetwork(r *http.Request) string {
	for _, n := range fairshare.From(ClientIP(r)).Networks() {
		if bits := n.Bits(); n.Addr().Is4() && bits == 24 || n.Addr().Is6() && bits == 48 {
			return n.String()
		}
	}
	return ""
}

// RequestID is the value of `{http.request.uuid}`, "" outside of Caddy's requests.
func RequestID(r *http.Request) string {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return ""
	}
	id, _ := repl.GetString("http.request.uuid")
	return id
}
