package cluster

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// N14: one node loses the replies of Redis from some write of an exchange on, and answers
// 503. Its client retries at another node.
func TestFailedExchangeIsRetriedAtAnotherNode(t *testing.T) {
	link := redistest.NewProxy(t, redistest.Shared(t).Addr)
	c := start(t, plan{links: map[int]string{0: link.URL()}})
	a, b := c.nodes[0], c.nodes[1]
	v := c.signIn(t, b)
	failed := 0
	for n, more := 1, true; more; n++ {
		t.Run(fmt.Sprintf("N14 from write %d on", n), func(t *testing.T) {
			// The node is well again, and knows the scripts.
			for c.grantAt(t, v, a) != http.StatusOK {
				time.Sleep(20 * time.Millisecond)
			}
			code := c.code(t, v)
			link.DropRepliesFrom(n, "EVALSHA")
			first, err := c.exchange(a, code)
			if err != nil {
				t.Fatal(err)
			}
			if more = first.status != http.StatusOK; more {
				failed++
				if first.status != http.StatusServiceUnavailable {
					t.Fatal("the exchange during the fault:", first)
				}
			}
			// While the fault lasts the other node may have to answer 503 as well.
			second, err := c.exchange(b, code)
			if err != nil || second.status != http.StatusOK && second.status != http.StatusServiceUnavailable && more {
				t.Fatal("the retry during the fault:", second, err)
			}
			link.Heal()
			for until := time.Now().Add(10 * time.Second); second.status == http.StatusServiceUnavailable; {
				if time.Now().After(until) {
					t.Fatal("still", second)
				}
				if second, err = c.exchange(b, code); err != nil {
					t.Fatal(err)
				}
			}
			switch {
			case !more && !second.refusedGrant():
				t.Fatal("a replay:", second)
			case !more:
			case second.status != http.StatusOK:
				t.Fatal("the retry after the fault:", second)
			default:
				if r, err := b.read(second.field("access_token")); err != nil || r.status != http.StatusOK {
					t.Error("its access token:", r, err)
				}
				if r, err := c.exchange(a, code); err != nil || !r.refusedGrant() && r.status != http.StatusServiceUnavailable {
					t.Error("a replay at the first node:", r, err)
				}
			}
		})
		if t.Failed() {
			return
		}
	}
	if failed < 2 {
		t.Errorf("%d exchanges failed: the family is written, and then the code", failed)
	}
}

// grantAt redeems a fresh code at a node.
func (c *cluster) grantAt(t *testing.T, v *visitor, at *node) int {
	t.Helper()
	a, err := c.exchange(at, c.code(t, v))
	if err != nil {
		t.Fatal(err)
	}
	return a.status
}
