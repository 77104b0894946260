package gateway

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Lua in nginx reads the first hundred header fields of a request, Node.js the first thousand. Those that say who calls
// must be among them, beside those of the proxy.
func TestClientCannotCrowdOutWhoCalls(t *testing.T) { // G30
	g, up, m := startFaulty(t)
	authorization := "Authorization: Bearer " + newForger(t, g, m).token(nil)
	for _, line := range []string{"A:", "A: 1\r\nB: 2"} {
		fields := append(slices.Repeat([]string{line}, 90/len(strings.Split(line, "\n"))), authorization)
		p := harness.Wire(t, g.API, "GET /read", fields...)
		if p.Status != http.StatusRequestHeaderFieldsTooLarge || !strings.Contains(p.Body, "too many header fields") {
			t.Errorf("90 fields: %d %s", p.Status, p.Body)
		}
		wantHits(t, up, 0)
	}
	harness.Wire(t, g.API, "GET /read", append(slices.Repeat([]string{"A:"}, 70), authorization)...)
	if hits := wantHits(t, up, 1); len(hits) == 1 && hits[0].Header.Get("X-Auth-Subject") != "u-1" {
		t.Errorf("70 fields: %v", hits[0].Header)
	}
}
