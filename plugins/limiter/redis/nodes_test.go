package redis

import (
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

// Nodes that start together count each other before the regular second report: if Redis went away until then, each would admit
// too large a part.
func TestNodesThatStartTogetherSoonCountEachOther(t *testing.T) {
	server := redistest.Shared(t)
	began := time.Now()
	var nodes [3]*Source
	for i := range nodes {
		nodes[i] = open(t, config{settings: settings(t, server.URL(), "together:", patient)})
		nodes[i].conn.spawn(nodes[i].reportNodes)
	}
	counted := func() bool { // with assumedNodes until the first report
		for _, s := range nodes {
			if n := s.nodes.count(); n < 3 || n == assumedNodes {
				return false
			}
		}
		return true
	}
	for !counted() {
		if time.Since(began) > reportEvery-time.Second/2 {
			t.Fatalf("%d, %d and %d nodes after %v", nodes[0].nodes.count(), nodes[1].nodes.count(), nodes[2].nodes.count(), time.Since(began))
		}
		time.Sleep(20 * time.Millisecond)
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
