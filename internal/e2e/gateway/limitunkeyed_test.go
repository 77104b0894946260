package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// An operator has to know which requests a policy leaves to others: the reference says so.
func TestPolicyLeavesOutRequestsWithoutItsKey(t *testing.T) { // L07
	g, _ := startSite(t, limited(site, "all 1000 1h"))
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	for _, c := range []struct {
		policy, path string
		without      []string // header fields of a request that has no key
		with         []string // of one that has
	}{
		{"by tenant {http.request.header.X-Tenant} 2 1h", "/read", nil, []string{"X-Tenant", "a"}},
		{"user 2 1h", "/read", nil, nil},
		{"route 2 1h", "/elsewhere", nil, nil},
	} {
		g.Load(t, strings.Replace(limited(site, c.policy), "$GUARD", "otherwise token", 1))
		call := func(fields []string) int {
			return send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+c.path, "", append([]string{"Authorization", "Bearer " + access}, fields...)...).Status
		}
		for i := range 4 {
			if got := call(c.without); got != http.StatusOK {
				t.Errorf("L07: %s: request %d without a key: %d", c.policy, i+1, got)
			}
		}
		if c.with == nil {
			continue
		}
		for i := range 3 {
			if got, want := call(c.with), map[bool]int{true: 200, false: 429}[i < 2]; got != want {
				t.Errorf("L07: %s: request %d with a key: %d, want %d", c.policy, i+1, got, want)
			}
		}
	}
}
