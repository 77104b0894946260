package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S10: Caddy shares a port with another process without a word.
func TestPortSharedWithAnotherGatewayIsReported(t *testing.T) {
	g := start(t)
	if _, all := examined(t, g); has(all, "fail", "ports", "") {
		t.Errorf("alone: %+v", all)
	}
	host := func(address string) string { return strings.TrimPrefix(address, "http://") }
	second := harness.Prepare(t, "$UPSTREAM", "localhost:1", "$GLOBAL", "", "$GUARD", "", "$ID", host(g.ID), "$API", host(g.API))
	second.ID, second.API = g.ID, g.API
	p := second.Run(t, site)
	for end := time.Now().Add(10 * time.Second); !strings.Contains(p.Output(), "another process listens"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no warning: %s", p.Output())
		}
	}
	if _, all := examined(t, g); !has(all, "fail", "ports", "another process listens on") {
		t.Errorf("the first one does not say so: %+v", all)
	}
	p.Stop()
	if _, all := examined(t, g); has(all, "fail", "ports", "") {
		t.Errorf("alone again: %+v", all)
	}
}
