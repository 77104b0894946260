package cluster

import (
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// What a request was told 503 about, since no replica has it, is read by every node. None of them takes it for done: a
// failover would undo it.
func TestNothingIsDoneUntilAReplicaHasIt(t *testing.T) {
	s := redistest.StartSentinel(t)
	c := start(t, plan{url: s.URL(), tokens: "refresh_grace 1m", change: []string{"timeout $PATIENCE\n\t\t}\n\t\tlimiter", "timeout 500ms\n\t\t\treplicas 1\n\t\t}\n\t\tlimiter"}})
	v := c.signIn(t, c.nodes[0])
	refreshed, revoked := c.grant(t, v, c.nodes[0]), c.grant(t, v, c.nodes[0])
	s.Replica().Freeze()
	s.Primary().CLI("client", "kill", "type", "replica") // else the primary sends what the replica reads once it is thawed
	ask := func() (statuses []int) {
		for _, n := range []*node{c.nodes[0], c.nodes[1], c.nodes[0], c.nodes[1]} {
			a, err := c.refresh(n, refreshed.refresh)
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.revoke(n, web, revoked.access)
			if err != nil {
				t.Fatal(err)
			}
			statuses = append(statuses, a.status, b.status)
		}
		return statuses
	}
	for i, status := range ask() {
		if status != http.StatusServiceUnavailable {
			t.Errorf("request %d without a replica: %d", i, status)
		}
	}
	s.Replica().Thaw()
	soon(t, "200 with a replica", func() bool {
		time.Sleep(100 * time.Millisecond)
		for _, status := range ask() {
			if status != http.StatusOK {
				return false
			}
		}
		return true
	})
}
