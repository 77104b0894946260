package httpx

import (
	"net/http"
	"strings"
)

// KeepHTTP removes a request's wish to switch its connection to another version of HTTP, such as
// h2c (RFC 7540 section 3.2, withdrawn by RFC 9113): if the upstream agreed, it would read requests
// from the connection that the gateway never sees. Other protocols, such as WebSocket, are left
// alone.
func KeepHTTP(h http.Header) {
	delete(h, "Http2-Settings")
	for _, line := range h["Upgrade"] {
		for protocol := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(protocol)), "/")
			switch name {
			case "h2c", "h2", "h3", "http", "tls":
				delete(h, "Upgrade")
				return
			}
		}
	}
}

// UpstreamMethod returns the method that the upstream sees. Caddy's proxy turns an extended CONNECT
// for a WebSocket (RFC 8441, RFC 9220) into the GET of an upgrade, which an upstream without
// WebSocket support answers like any other GET.
func UpstreamMethod(r *http.Request) string {
	if r.Method == http.MethodConnect &&
		(r.ProtoMajor == 3 && r.Proto == "websocket" || r.ProtoMajor == 2 && r.Header.Get(":protocol") == "websocket") {
		return http.MethodGet
	}
	return r.Method
}
