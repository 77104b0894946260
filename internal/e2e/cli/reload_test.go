package cli

import (
	"net/http"
	"strings"
	"testing"
)

// Caddy keeps the admin endpoint of a configuration that failed to load, beside the
// gateway of the one before: the API holds nothing that could be the wrong one's.
func TestFailedLoadLeavesTheRunningGatewayAdministered(t *testing.T) {
	g := start(t)
	addUser(t, g)
	for name, bad := range map[string]string{
		"a port that is taken":   site + "\nhttp://localhost:1 {\n\tbind 192.0.2.1\n\trespond x\n}\n",
		"an unknown placeholder": strings.Replace(site, "issuer http://$ID", "issuer {env.GATEHOUSE_NONE}", 1),
	} {
		if err := g.TryLoad(bad); err == nil {
			t.Fatalf("%s: loaded", name)
		}
		if p := call(t, g, "GET", "users/alice", ""); p.Status != http.StatusOK {
			t.Errorf("%s: %d %s", name, p.Status, p.Body)
		}
		if p := call(t, g, "GET", "doctor", ""); p.Status != http.StatusOK || !strings.Contains(p.Body, g.ID) {
			t.Errorf("%s: %d %s", name, p.Status, p.Body)
		}
	}
}

func TestAdminAPIFollowsTheConfiguration(t *testing.T) {
	g := start(t)
	addUser(t, g)
	g.Load(t, "{\n\tadmin $ADMIN\n}\nhttp://$ID {\n\trespond ok\n}\nhttp://$API {\n\trespond ok\n}\n")
	if p := call(t, g, "GET", "users/alice", ""); p.Status != http.StatusServiceUnavailable {
		t.Errorf("without a gateway: %d %s", p.Status, p.Body)
	}
	g.Load(t, strings.Replace(site, "client machine {", "client other {", 1))
	if p := call(t, g, "GET", "users/alice", ""); p.Status != http.StatusOK {
		t.Errorf("the store is kept: %d %s", p.Status, p.Body)
	}
	if p := call(t, g, "GET", "clients", ""); !strings.Contains(p.Body, `"other"`) || strings.Contains(p.Body, `"machine"`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}
