package httpx

import (
	"net/http"
	"testing"
)

func TestWebSocketUpgradeIsKeptAndHTTP2IsNot(t *testing.T) {
	for upgrade, stays := range map[string]bool{
		"websocket": true, "WebSocket": true, "SPDY/3.1": true, "h2c-like": true, "": true,
		"h2c": false, " H2C ": false, "websocket,h2c": false, "HTTP/2.0": false, "h2c/1": false, "TLS/1.0": false,
	} {
		h := http.Header{"Upgrade": {upgrade}, "Http2-Settings": {"AAMAAABk"}, "Accept": {"*/*"}}
		KeepHTTP(h)
		if _, left := h["Upgrade"]; left != stays || len(h["Http2-Settings"]) > 0 || h.Get("Accept") == "" {
			t.Errorf("%q: %v", upgrade, h)
		}
	}
	h := http.Header{"Upgrade": {"websocket", "h2c"}}
	if KeepHTTP(h); len(h) > 0 {
		t.Errorf("of two lines: %v", h)
	}
}
