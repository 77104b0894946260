package cluster

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// N14: one node loses the replies of Redis from the write on that replaces a refresh token,
// for longer than refresh_grace, and answers 503. Its client repeats the request when the
// replies are back, at that node or at another.
func TestFailedRefreshIsRepeatableAtAnyNode(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Second} {
		t.Run(fmt.Sprintf("N14 refresh_grace %v", grace), func(t *testing.T) {
			s := redistest.Start(t)
			link := redistest.NewProxy(t, s.Addr)
			c := start(t, plan{redis: s, links: map[int]string{0: link.URL()}, tokens: fmt.Sprintf("refresh_grace %v", grace)})
			v := c.signIn(t, c.nodes[1])
			for at, n := range c.nodes[:2] {
				t.Run(fmt.Sprintf("N14 repeated at node %d", at), func(t *testing.T) {
					r := lostRotation{cluster: c, server: s, link: link, visitor: v, grace: grace}
					r.repeatedAt(t, n)
				})
			}
		})
	}
}

// lostRotation is a refresh at the first node, whose link to Redis fails.
type lostRotation struct {
	*cluster
	server  *redistest.Server
	link    *redistest.Proxy
	visitor *visitor
	grace   time.Duration
}

func (r *lostRotation) repeatedAt(t *testing.T, again *node) {
	failing, other := r.nodes[0], r.nodes[1]
	for r.grantAt(t, r.visitor, failing) != http.StatusOK { // well again, and knows the scripts
		time.Sleep(20 * time.Millisecond)
	}
	f := r.grant(t, r.visitor, failing)
	if a, err := r.refresh(failing, f.refresh); err != nil || a.status != http.StatusOK {
		t.Fatal("a refresh before the fault:", a, err)
	} else {
		f.refresh = a.field("refresh_token")
	}
	r.link.DropRepliesFrom(1, "EVALSHA")
	if a, err := r.refresh(failing, f.refresh); err != nil || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Fatal("the refresh during the fault:", a, err)
	}
	time.Sleep(r.grace) // it lasts longer than that
	before := r.grants()
	r.link.Heal()
	if again != failing {
		// The node that failed has to write what happened before another one knows it.
		for until := time.Now().Add(30 * time.Second); r.grants() == before; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("the node wrote nothing after the fault")
			}
		}
	}
	next, err := r.refresh(again, f.refresh)
	for until := time.Now().Add(30 * time.Second); err == nil && next.status == http.StatusServiceUnavailable; next, err = r.refresh(again, f.refresh) {
		if time.Now().After(until) {
			t.Fatal("still", next)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil || next.status != http.StatusOK {
		t.Fatal("the repetition:", next, err)
	}
	if a, err := other.read(next.field("access_token")); err != nil || a.status != http.StatusOK {
		t.Error("its access token:", a, err)
	}
	last, err := r.refresh(other, next.field("refresh_token"))
	if err != nil || last.status != http.StatusOK {
		t.Fatal("the refresh after it:", last, err)
	}
	// The token of two generations before is a replay, as ever.
	if a, err := r.refresh(other, f.refresh); err != nil || !a.refusedGrant() {
		t.Error("a replay:", a, err)
	}
	if a, err := r.refresh(other, last.field("refresh_token")); err != nil || !a.refusedGrant() {
		t.Error("a refresh after the replay:", a, err)
	}
	r.dies(t, other, last.field("access_token"))
}

// grants is what Redis has of all grants.
func (r *lostRotation) grants() string {
	var all strings.Builder
	for _, key := range strings.Fields(r.server.CLI("--scan", "--pattern", "*r:grant:*")) {
		all.WriteString(key + " " + r.server.CLI("GET", key) + "\n")
	}
	return all.String()
}
