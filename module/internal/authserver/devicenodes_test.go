package authserver_test

import (
	"sync"
	"testing"
	"time"
)

func newDeviceNodes(t *testing.T) nodes {
	t.Helper()
	n := newNodes(t)
	for _, g := range n {
		g.addDevices()
	}
	return n
}

// pass is for both nodes, whose clocks are each one's own.
func (n nodes) pass(d time.Duration) {
	for _, g := range n {
		g.pass(d)
	}
}

// A43: a device begins at one node, is confirmed over both, and redeems at the other.
func TestDeviceCanPollAnyNode(t *testing.T) {
	n := newDeviceNodes(t)
	d := n[0].device(nil)
	n[1].want(n[1].token(d.redeem()), 400, "authorization_pending")
	b := n[1].browser()
	asked := b.devicePage(d)
	n[0].isDone(b.on(n[0]).submit(asked, "decision", "confirm"), "confirmed")
	first := n[0].want(n[1].token(d.redeem()), 200, "")
	for i, g := range n {
		if !g.alive(first.tokens.Access) {
			t.Errorf("node %d does not know the token", i)
		}
	}
	// A replay at the one ends what the other has issued.
	n[0].want(n[0].token(d.redeem()), 400, "invalid_grant")
	n.dies(first.tokens.Access)
	denied := n[1].device(nil)
	n[0].decide(b.on(n[0]), denied, "deny")
	n[1].want(n[1].token(denied.redeem()), 400, "access_denied")
}

// C14 for devices: no lock of one process helps the other.
func TestParallelDeviceRedemptionsAtTwoNodesSucceedOnce(t *testing.T) {
	n := newDeviceNodes(t)
	b := n[0].browser()
	for range 20 {
		d := n[0].device(params{"client_id": "box", "client_secret": webSecret, "scope": "read"})
		n[0].decide(b, d, "confirm")
		p := d.redeem().with("client_id", "box").with("client_secret", webSecret)
		answers := make([]answer, 64)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				<-start
				answers[i] = n[i%2].token(p)
			})
		}
		close(start)
		all.Wait()
		if count := tally(answers); count[200] != 1 || count[400] != 63 {
			t.Fatalf("answers by status: %v", count)
		}
		for _, a := range answers {
			if a.status == 200 {
				n.dies(a.tokens.Access)
			} else {
				n[0].want(a, 400, "invalid_grant")
			}
		}
	}
}

// RFC 8628 section 3.5: a device adds five seconds with each slow_down, whichever node said
// so. No node knows what the other said, and none may want more than the device keeps.
func TestPatientDeviceIsNeverSlowedDownAtAnyNode(t *testing.T) {
	for name, at := range map[string]func(i int) int{
		"in turn":           func(i int) int { return i % 2 },
		"one, then another": func(i int) int { return i / 5 % 2 },
		"mostly one":        func(i int) int { return (i + 1) % 7 / 6 },
	} {
		t.Run(name, func(t *testing.T) {
			n := newDeviceNodes(t)
			d := n[0].device(nil)
			interval := 5 * time.Second
			// It is too fast at first, then does as it is told.
			for i := range 4 {
				n.pass(time.Second)
				if a := n[at(i)].token(d.redeem()); a.tokens.Error == "slow_down" {
					interval += 5 * time.Second
				}
			}
			for i := range 20 {
				n.pass(interval)
				n[0].want(n[at(i)].token(d.redeem()), 400, "authorization_pending")
			}
		})
	}
}

// Who goes from node to node is slowed down by each as if it were alone: two nodes are
// asked at most twice as often as one.
func TestFastDeviceIsSlowedDownByEachNode(t *testing.T) {
	n := newDeviceNodes(t)
	d := n[0].device(nil)
	pending := 0
	for i := range 120 { // a minute, a poll each half second
		if n[i%2].token(d.redeem()).tokens.Error == "authorization_pending" {
			pending++
		}
		n.pass(500 * time.Millisecond)
	}
	if pending != 2 {
		t.Errorf("%d polls were taken for patient, want the first at each node", pending)
	}
}
