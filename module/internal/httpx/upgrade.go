package httpx

import (
	"net/http"
	"strings"
)

// KeepHTTP removes from a request the wish to speak another HTTP on its connection, such as
// h2c (RFC 7540 section 3.2, withdrawn by RFC 9113): an upstream that grants it reads
// requests from there on that no gateway sees. Other protocols, as WebSocket is, stay.
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

// UpstreamMethod is the method that an upstream sees. Caddy's proxy sends an extended CONNECT for a WebSocket (RFC 8441,
// RFC 9220) as the GET of an upgrade, which an upstream that speaks no WebSocket answers like any GET.
func UpstreamMethod(r *http.Request) string {
	if r.Method == http.MethodConnect &&
		(r.ProtoMajor == 3 && r.Proto == "websocket" || r.ProtoMajor == 2 && r.Header.Get(":protocol") == "websocket") {
		return http.MethodGet
	}
	return r.Method
}
