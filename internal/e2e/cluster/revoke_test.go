package cluster

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

// E23, G24.
func TestRevokedTokenIsRefusedByOtherNodesWithinASecond(t *testing.T) {
	c := start(t, plan{})
	v := c.signIn(t, c.nodes[0])
	var took []time.Duration
	for i := range times(50, 1000) {
		at := c.nodes[i%nodesOfCluster]
		others := []*node{c.nodes[(i+1)%nodesOfCluster], c.nodes[(i+2)%nodesOfCluster]}
		// In turn: one access token, and a family by its refresh token. Of the first kind a
		// client can end only so many in a minute.
		who, token := machine, ""
		var access string
		if i%2 == 0 && i < 50 {
			access = c.machineToken(t, at)
			token = access
		} else {
			f := c.grant(t, v, at)
			who, access, token = web, f.access, f.refresh
		}
		for _, n := range others {
			if a, err := n.read(access); err != nil || a.status != http.StatusOK {
				t.Fatal("before it is revoked:", a, err)
			}
		}
		last := make([]time.Duration, len(others))
		if a, err := c.revoke(at, who, token); err != nil || a.status != http.StatusOK {
			t.Fatal("revoking:", a, err)
		}
		revoked := time.Now()
		atOnce(len(others), func(i int) { last[i] = lastAccepted(t, others[i], access, revoked) })
		took = append(took, last...)
	}
	slices.Sort(took)
	n := len(took)
	t.Logf("accepted after the revocation for: median %v, p99 %v, at most %v (%d guards)", took[n/2], took[n*99/100], took[n-1], n)
	if took[n-1] > time.Second {
		t.Errorf("a guard accepted a token %v after it was revoked", took[n-1])
	}
}

// lastAccepted asks until the token is refused, and twice more: how long after the
// revocation the last answer was still another one.
func lastAccepted(t *testing.T, at *node, access string, revoked time.Time) (last time.Duration) {
	for refused := 0; refused < 3; {
		a, err := at.read(access)
		switch {
		case err == nil && a.refusedToken():
			refused++
		case err != nil || a.status != http.StatusOK:
			t.Error("neither accepted nor refused:", a, err)
			return last
		default:
			last, refused = time.Since(revoked), 0
			if last > 5*time.Second {
				return last
			}
		}
	}
	return last
}
