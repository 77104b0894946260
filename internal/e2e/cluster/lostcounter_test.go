package cluster

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// In a Redis Cluster one server may fail and lose its last writes, among them the counter of epochs, while the others keep
// all that depended on it. Whoever was just signed out everywhere signs in again.
func TestSignInAfterTheCounterOfEpochsWasLost(t *testing.T) {
	s := redistest.Start(t)
	c := start(t, plan{redis: s})
	signOutEverywhere := func() {
		t.Helper()
		v := c.signIn(t, c.nodes[0])
		if out := v.Submit(v.Get(c.issuer+"/account"), url.Values{"all": {"everything"}}); out.Status != http.StatusOK {
			t.Fatalf("%d %.300s", out.Status, out.Body)
		}
	}
	signOutEverywhere()
	counter := strings.TrimSpace(s.CLI("--scan", "--pattern", "*r:ending:counter"))
	s.CLI("COPY", counter, "before")
	signOutEverywhere()
	s.CLI("COPY", "before", counter, "REPLACE")
	for _, n := range c.nodes {
		var status int
		whileLate(func() int {
			v := c.visitor(t, n)
			status = v.Submit(v.Get(c.authorizeURL()), url.Values{"username": {username}, "password": {password}}).Status
			return status
		})
		if status != http.StatusOK && status != http.StatusSeeOther && status != http.StatusFound {
			t.Errorf("the right password: %d", status)
		}
	}
	v := c.signIn(t, c.nodes[1])
	f := c.grant(t, v, c.nodes[2])
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, n := range c.nodes {
			if a, err := n.read(f.access); err != nil || a.status != http.StatusOK {
				t.Fatal("the access token of a sign-in after the end:", a, err)
			}
		}
	}
}
