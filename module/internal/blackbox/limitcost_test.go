package blackbox

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/harness"
)

// Without a guard in front, which would refuse or mend them, paths come as they were
// written, and upstreams read many spellings as one.
func TestNoSpellingOfAPathIsCheaper(t *testing.T) {
	port := harness.FreePorts(t, 1)[0]
	second := fmt.Sprintf(`http://localhost:%d {
	api_errors
	api_limit {
		all 1000 1h
		cost 10 GET /export /
		limiter costs
	}
	reverse_proxy $UPSTREAM
}
`, port)
	startSite(t, site+second)
	bare := fmt.Sprintf("http://localhost:%d", port)
	left := 1000
	for _, c := range []struct {
		line string
		cost int
	}{
		{"GET /export", 10}, {"GET /export?x=1", 10}, {"GET //export", 10}, {"GET /./export", 10}, {"GET /x/../export", 10}, {"GET /%65xport", 10},
		{"GET /EXPORT", 10}, {"GET /export/.", 10}, {"GET /x/%2e%2e/export", 10}, {"GET /export#x", 1}, // it goes on as /export%23x
		{"GET http://localhost:" + strconv.Itoa(port), 10}, {"GET http://localhost:" + strconv.Itoa(port) + "/export", 10}, {"GET /", 10}, {"GET /x/..", 10},
		{"GET /exports", 1}, {"POST /export", 1},
	} {
		p := harness.Wire(t, bare, c.line)
		left -= c.cost
		if got := p.Header.Get("X-Ratelimit-Remaining"); got != strconv.Itoa(left) {
			t.Errorf("%s: %d, %s are left, want %d", c.line, p.Status, got, left)
			if n, err := strconv.Atoi(got); err == nil {
				left = n
			}
		}
	}
}
