package cluster

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// oneReplica has writes wait for a replica.
var oneReplica = []string{"timeout $PATIENCE\n\t\t}\n\t\tlimiter", "timeout 500ms\n\t\t\treplicas 1\n\t\t}\n\t\tlimiter"}

// What a request was told 503 about, since no replica has it, is read by every node. None of them takes it for done: a
// failover would undo it.
func TestNothingIsDoneUntilAReplicaHasIt(t *testing.T) {
	s := redistest.StartSentinel(t)
	c := start(t, plan{url: s.URL(), tokens: "refresh_grace 1m", change: oneReplica})
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

// The same holds for what users end themselves: the other browsers on the account page, and this one by /logout.
func TestSignOutIsNotDoneUntilAReplicaHasIt(t *testing.T) {
	sentinel, shards := redistest.StartSentinel(t), redistest.StartCluster(t)
	for name, r := range map[string]struct {
		url      string
		replicas []*redistest.Server
	}{
		"sentinel": {sentinel.URL(), []*redistest.Server{sentinel.Replica()}},
		"cluster":  {shards.URL(), shards.Nodes[len(shards.Nodes)/2:]},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, plan{url: r.url, change: oneReplica})
			here, other, leaving := c.signIn(t, c.nodes[0]), c.signIn(t, c.nodes[0]), c.signIn(t, c.nodes[0])
			account, logout := here.Get(c.issuer+"/account"), leaving.Get(c.issuer+"/logout")
			for _, replica := range r.replicas {
				replica.Freeze()
				defer replica.Thaw()
			}
			if p := leaving.Submit(logout, nil); p.Status != http.StatusServiceUnavailable {
				t.Errorf("the form of /logout without a replica: %d", p.Status)
			}
			press := func(at *node) (others, leave int) {
				here.at, leaving.at = at, at
				return here.Submit(account, url.Values{"all": {"others"}}).Status, leaving.Get(c.issuer + "/logout").Status
			}
			for i := range 4 {
				others, leave := press(c.nodes[i%2])
				if others != http.StatusServiceUnavailable || leave != http.StatusServiceUnavailable {
					t.Errorf("attempt %d without a replica: other browsers %d, /logout %d", i+1, others, leave)
				}
			}
			for _, replica := range r.replicas {
				replica.Thaw()
			}
			soon(t, "200 with a replica", func() bool {
				others, leave := press(c.nodes[1])
				return others == http.StatusOK && leave == http.StatusOK
			})
			if p := other.Get(c.issuer + "/account"); !strings.Contains(p.Body, `name="password"`) {
				t.Errorf("the other browser is signed in: %d", p.Status)
			}
		})
	}
}
