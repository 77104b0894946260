package apiproxy

import (
	"net"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/internal/http1"
)

// forwardedFields returns the fields that tell the server who the client is and how it asked.
// What the request says of it is believed only of proxies that are trusted.
func forwardedFields(r *http.Request, fields []http1.Field) []http1.Field {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil && r.RemoteAddr != "@" || r.RemoteAddr == "@" && !trusted {
		// Whoever asks cannot be named, and must not name itself.
		return append(fields, http1.Field{Name: "X-Forwarded-For"}, http1.Field{Name: "X-Forwarded-Proto"}, http1.Field{Name: "X-Forwarded-Host"})
	}
	peer, _, _ = strings.Cut(peer, "%")
	proto, host := "http", r.Host
	if r.TLS != nil {
		proto = "https"
	}
	if trusted {
		if prior := strings.Join(r.Header["X-Forwarded-For"], ", "); prior != "" && peer != "" {
			peer = prior + ", " + peer
		} else if prior != "" {
			peer = prior
		}
		proto = lastOr(r.Header["X-Forwarded-Proto"], proto)
		host = lastOr(r.Header["X-Forwarded-Host"], host)
	}
	return append(fields, http1.Field{Name: "X-Forwarded-For", Value: peer}, http1.Field{Name: "X-Forwarded-Proto", Value: proto},
		http1.Field{Name: "X-Forwarded-Host", Value: host})
}

// lastOr returns the last value that is not empty.
func lastOr(values []string, otherwise string) string {
	if n := len(values); n > 0 && values[n-1] != "" {
		return values[n-1]
	}
	return otherwise
}
