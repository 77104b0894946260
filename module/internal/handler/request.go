package handler

import (
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// getVar returns a variable of a request, or the zero value if it is not set.
func getVar[T any](r *http.Request, name string) T {
	v, _ := caddyhttp.GetVar(r.Context(), name).(T)
	return v
}

// ClientIP returns the client's address according to the server's trusted_proxies. It never
// reads header fields of the request.
func ClientIP(r *http.Request) string { return getVar[string](r, caddyhttp.ClientIPVarKey) }

// ClientAddress returns the address from which a request came; for IPv6, that of its /64. It is
// "" if there is no valid address.
func ClientAddress(r *http.Request) string {
	if networks := fairshare.From(ClientIP(r)).Networks(); len(networks) > 0 {
		return networks[0].Addr().String()
	}
	return ""
}

// ClientNetwork returns the network from which a request came, an IPv4 /24 or an IPv6 /48, since
// few people control many of those. It is "" if there is no valid address.
func ClientNetwork(r *http.Request) string {
	for _, n := range fairshare.From(ClientIP(r)).Networks() {
		if bits := n.Bits(); n.Addr().Is4() && bits == 24 || n.Addr().Is6() && bits == 48 {
			return n.String()
		}
	}
	return ""
}

// RequestID returns the value of `{http.request.uuid}`, or "" outside of Caddy's requests.
func RequestID(r *http.Request) string {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return ""
	}
	id, _ := repl.GetString("http.request.uuid")
	return id
}

// unreadBodyTime is how long a refused client may continue to send its body, as long as bodies
// for the authorization server may take.
const unreadBodyTime = 10 * time.Second

// LeaveBody bounds how long the body of a refused request may take to arrive. net/http reads it
// before it responds although nothing uses it, and a client that sends a byte now and then would
// keep the connection open meanwhile.
func LeaveBody(w http.ResponseWriter, r *http.Request) {
	httpx.LeaveBody(w, r, unreadBodyTime, IsFullDuplex(r))
}

// IsFullDuplex reports whether the server of a request has `enable_full_duplex`: over HTTP/1 it then reads what is left
// of the body after it has responded, not before.
func IsFullDuplex(r *http.Request) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return ok && server.EnableFullDuplex
}

// CloseWhenExiting asks the client to close its connection after this answer if the process is
// about to end: a request that is sent just when the server closes an idle connection is
// reset, and its client cannot know whether it was executed. HTTP/2 and HTTP/3 have messages
// of their own for that, which Caddy sends. A reload keeps connections.
func CloseWhenExiting(w http.ResponseWriter, r *http.Request) {
	if caddy.Exiting() && r.ProtoMajor == 1 && r.Header.Get("Upgrade") == "" {
		w.Header().Set("Connection", "close")
	}
}
