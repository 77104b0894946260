package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S21: scripts read what the API exposes beside what the gateway does.
func TestUpstreamExposedHeadersReachTheBrowser(t *testing.T) {
	g, up := start(t, "$GUARD", "cors https://spa.example")
	access, _ := tokens(t, g, web)
	up.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Mcp-Session-Id", "s-1")
		w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id, ETag")
		w.Header().Set("Access-Control-Allow-Origin", "https://evil.example")
		w.Header().Set("Access-Control-Allow-Credentials", "true")
	})
	p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+access, "Origin", "https://spa.example")
	exposed := p.Header.Values("Access-Control-Expose-Headers")
	if p.Status != http.StatusOK || len(exposed) != 1 || !strings.Contains(exposed[0], "X-RateLimit-Limit") || !strings.HasSuffix(exposed[0], ", Mcp-Session-Id") {
		t.Errorf("S21 %d %q", p.Status, exposed)
	}
	if p.Header.Get("Access-Control-Allow-Origin") != "https://spa.example" || p.Header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("S21 %v", p.Header)
	}
	p = send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read", "", "Authorization", "Bearer "+access, "Origin", "https://evil.example")
	if p.Header.Get("Access-Control-Expose-Headers") != "" || p.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("S21 another origin: %v", p.Header)
	}
}

// Libraries in browsers send fields of their own, such as those of tracing.
func TestRegisteredOriginMaySendAnyField(t *testing.T) { // T19
	g, _ := start(t)
	for origin, want := range map[string]string{"https://spa.example": "traceparent,x-own", "https://evil.example": ""} {
		for _, path := range []string{"/token", "/revoke", "/userinfo"} {
			p := send(t, harness.NewBrowser(t, ""), http.MethodOptions, g.ID+path, "", "Origin", origin, "Access-Control-Request-Method", "POST",
				"Access-Control-Request-Headers", "traceparent,x-own")
			if got := p.Header.Get("Access-Control-Allow-Headers"); p.Status != http.StatusNoContent || got != want {
				t.Errorf("%s from %s: %d, allows %q", path, origin, p.Status, got)
			}
		}
	}
}
