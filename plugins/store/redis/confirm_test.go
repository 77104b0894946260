package redis

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// What is gone from one server alone a failover brings back: whoever lists what a parent has left, on any node and as
// often as it likes, is not told that the rest is gone for good.
func TestAbsenceFromAListIsConfirmedOnlyWhenReplicated(t *testing.T) {
	sentinel, cluster := redistest.SharedSentinel(t), redistest.SharedCluster(t)
	for name, c := range map[string]struct {
		url      string
		replicas []*redistest.Server
	}{
		"a primary": {sentinel.URL(), []*redistest.Server{sentinel.Replica()}},
		"a cluster": {cluster.URL(), cluster.Nodes[3:]},
	} {
		t.Run(name, func(t *testing.T) {
			clock := new(moving)
			o := options(t, c.url)
			o.Replicas, o.Now = 1, clock.now
			b, other := open(t, o), open(t, o)
			ids := []string{"a", "b", "c", "d", "e", "f"}
			for _, id := range ids {
				must2(b.Create(t.Context(), record(id)))(t)
			}
			clock.advance(settled + time.Minute) // else their entries are kept anyway
			for _, r := range c.replicas {
				r.Freeze()
				defer r.Thaw()
			}
			for _, id := range ids {
				if err := b.Delete(t.Context(), record(id).Key); !errors.Is(err, redisconn.ErrReplicas) {
					t.Fatal(err)
				}
			}
			for range 3 {
				for _, node := range []*Backend{b, other} {
					if found, err := node.List(t.Context(), "k", "p", "", 10); len(found) != 0 || err != nil {
						t.Fatalf("%d are left, %v", len(found), err)
					}
					technical(t, "ConfirmList", node.ConfirmList(t.Context(), "k", "p"))
				}
			}
			for _, r := range c.replicas {
				r.Thaw()
			}
			confirmed := other.ConfirmList(t.Context(), "k", "p")
			for until := time.Now().Add(5 * time.Second); confirmed != nil && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
				confirmed = other.ConfirmList(t.Context(), "k", "p")
			}
			if confirmed != nil {
				t.Errorf("with its replicas: %v", confirmed)
			}
			left := -1
			for until := time.Now().Add(5 * time.Second); left != 0 && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
				_, err := b.List(t.Context(), "k", "p", "", 10)
				known, _, err2 := b.listChildren(t.Context(), "k", "p", "", 10)
				if left = len(known); err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
			}
			if left != 0 {
				t.Errorf("%d entries of what is gone for good stay", left)
			}
		})
	}
}

// Without a write concern nothing is asked of replicas, of which there may be none.
func TestListIsConfirmedWithoutAWriteConcern(t *testing.T) {
	b := open(t, options(t, redistest.Shared(t).URL()))
	if err := b.ConfirmList(t.Context(), "k", "p"); err != nil {
		t.Error(err)
	}
}
