package redis

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// A Redis that crashes again and again, and keeps nothing, first hears of one node each time.
func TestEmptyRestartedRedisKeepsTheNodeCount(t *testing.T) {
	server := redistest.Shared(t)
	var nodes [3]*Source
	for i := range nodes {
		nodes[i] = open(t, config{settings: settings(t, server.URL(), "empty:", patient)})
		if err := nodes[i].reportNode(); err != nil {
			t.Fatal(err)
		}
	}
	first := nodes[2]
	server.CLI("DEL", "empty:limit:nodes")
	if err := first.reportNode(); err != nil || first.nodes.count() != 3 {
		t.Fatalf("%v, %d nodes, want the 3 of before", err, first.nodes.count())
	}
}

// A node is counted by the others soon after it has been opened, together with them or later, also before its first request: if
// Redis went away until then, each would admit too large a part.
func TestNewNodesAreSoonCounted(t *testing.T) {
	server := redistest.Shared(t)
	var nodes []*Source
	for _, more := range []int{2, 1} {
		for range more {
			nodes = append(nodes, open(t, config{settings: settings(t, server.URL(), "soon:", patient)}))
		}
		began := time.Now()
		wrong := func(s *Source) bool { return s.nodes.count() != len(nodes) } // assumedNodes until the first report
		for slices.ContainsFunc(nodes, wrong) {
			if time.Since(began) > 4*time.Second {
				t.Fatalf("%d nodes are not counted after %v", len(nodes), time.Since(began))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func TestLowerNodeCountAppliesOnceItLasts(t *testing.T) {
	at := time.Now()
	n := newNodes(0)
	for i, c := range []struct {
		after time.Duration
		heard int
		err   error
		want  int
	}{
		{0, 3, nil, 3},
		{5 * time.Second, 1, nil, 3},
		{14 * time.Second, 2, nil, 3},
		{time.Second, 2, nil, 2},
		{5 * time.Second, 1, nil, 2},
		{5 * time.Second, 2, nil, 2}, // it had only been away
		{5 * time.Second, 1, nil, 2},
		{10 * time.Second, 0, errTimeout, 2},
		{10 * time.Second, 1, nil, 2}, // from here on it counts
		{nodeExpiry, 1, nil, 1},
		{time.Second, 4, nil, 4},
	} {
		at = at.Add(c.after)
		if n.recordReport(c.heard, c.err, at); n.count() != c.want {
			t.Fatalf("step %d: %d nodes, want %d", i, n.count(), c.want)
		}
	}
}
