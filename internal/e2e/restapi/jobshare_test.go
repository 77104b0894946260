package restapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// N06: callers without a token are told apart by their networks, so that one of them cannot
// keep the others from making jobs.
func TestAnonymousCallersShareTheQueueFairly(t *testing.T) {
	u := harness.NewUpstream(t)
	done := make(chan struct{})
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-done:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(done) })
	r := &rig{harness.Prepare(t), t, make(map[string]string)}
	behindProxy := strings.Replace(site, "persist_config off", "persist_config off\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/32 ::1/128\n\t\ttrusted_proxies_strict\n\t}", 1)
	r.StartChanged(t, behindProxy, r.with(u.Addr, `"upstream": $TO, "jobs": [{"path": "open/imports", "upstream": "/import"}]`)) // 100 at most, 20 of a client
	send := func(address string) int {
		return r.do("", "POST", "/open/imports", `{}`, "X-Forwarded-For", address).Status
	}
	took := func(n int, address func(i int) string) (accepted int) {
		for i := range n {
			switch status := send(address(i)); status {
			case http.StatusAccepted:
				accepted++
			case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			default:
				t.Fatalf("%s: %d", address(i), status)
			}
		}
		return accepted
	}
	for _, c := range []struct {
		name    string
		n, most int
		address func(i int) string
	}{
		{"an address", 30, 20, func(int) string { return "203.0.113.9" }},
		{"a /64 of IPv6", 30, 20, func(i int) string { return fmt.Sprintf("2001:db8:1:2::%x", i+1) }},
		{"a /48 of IPv6", 60, 20, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i+3) }},
		{"a /24 of IPv4", 60, 20, func(i int) string { return fmt.Sprintf("203.0.113.%d", i+10) }},
	} {
		if n := took(c.n, c.address); n > c.most {
			t.Errorf("N06 %s has %d jobs, want at most %d", c.name, n, c.most)
		}
	}
	if status := send("198.51.100.7"); status != http.StatusAccepted {
		t.Errorf("N06 a caller without a token from another network: %d", status)
	}
	if status := send("2a00:1::1"); status != http.StatusAccepted {
		t.Errorf("N06 another of IPv6: %d", status)
	}
	if status := send("203.0.113.9"); status != http.StatusTooManyRequests {
		t.Errorf("N06 the greedy caller: %d", status)
	}
}
