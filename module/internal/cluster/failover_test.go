package cluster

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/redistest"
)

// E06: the primary is killed under load. Meanwhile whoever needs the store is told 503,
// and nobody that a grant is not valid which is; the nodes find the new primary by
// themselves; and with a write concern nothing that was answered is undone.
func TestNodesOutliveThePrimaryOfTheirRedis(t *testing.T) {
	s := redistest.StartSentinel(t)
	c := start(t, plan{url: s.URL(), tokens: "refresh_grace 1m", change: []string{
		"prefix $PREFIX\n\t\t\ttimeout $PATIENCE", "prefix $PREFIX\n\t\t\treplicas 1",
		"{\n\t\t\ttimeout $PATIENCE\n\t\t}", "", // 200ms and 20ms, as ever
	}})
	v := c.signIn(t, c.nodes[0])
	var slowest, longest time.Duration
	away, spent, ended, back := 0, 0, 0, 0
	rounds := times(1, 20)
	for range rounds {
		codes := make([]string, 60)
		for i := range codes {
			codes[i] = c.code(t, v)
		}
		families := make([]family, 30)
		for i := range families {
			families[i] = c.grant(t, v, c.nodes[i%nodesOfCluster])
		}
		load := c.beginLoad(t, v)
		// Codes are exchanged and tokens revoked up to the moment of its death, and what was
		// answered then is what must last.
		var used []string
		var revoked []family
		var busy sync.WaitGroup
		half := make(chan struct{})
		busy.Go(func() {
			for i, code := range codes {
				if i == len(codes)/2 {
					close(half)
				}
				if a, err := c.exchange(c.nodes[i%nodesOfCluster], code); err == nil && a.status == http.StatusOK {
					used = append(used, code)
				}
			}
		})
		busy.Go(func() {
			for i, f := range families {
				if a, err := c.revoke(c.nodes[i%nodesOfCluster], web, f.refresh); err == nil && a.status == http.StatusOK {
					revoked = append(revoked, f)
				}
			}
		})
		killed := s.Primary()
		<-half
		killed.Kill()
		busy.Wait()
		if len(used) < 20 || len(revoked) < 5 {
			t.Fatalf("before the primary was killed %d codes were used and %d families revoked", len(used), len(revoked))
		}
		s.WaitPromoted(killed)
		promoted := time.Now()
		s.Rejoin(killed) // with no replica there is none to have a write
		rejoined := time.Now()
		for _, n := range c.nodes {
			longest = max(longest, load.served(t, n, rejoined).Sub(rejoined))
		}
		t.Logf("promoted, %v later a replica again, %v later all nodes served", rejoined.Sub(promoted).Round(time.Millisecond), time.Since(rejoined).Round(time.Millisecond))
		load.end()
		away, spent, ended = away+load.away, spent+len(used), ended+len(revoked)
		slowest = max(slowest, load.slowest)
		for i, code := range used {
			if a, err := c.exchange(c.nodes[i%nodesOfCluster], code); err != nil || !a.refusedGrant() {
				back++
				t.Error("a used code after the failover:", a, err)
			}
		}
		for i, f := range revoked {
			n := c.nodes[i%nodesOfCluster]
			if a, err := c.refresh(n, f.refresh); err != nil || !a.refusedGrant() {
				back++
				t.Error("a revoked refresh token after the failover:", a, err)
			}
			c.dies(t, n, f.access)
		}
	}
	t.Logf("%d failovers: of %d used codes and %d revoked families %d came back", rounds, spent, ended, back)
	t.Logf("%d answers of 503, the slowest of them after %v; all nodes served at most %v after there was a replica", away, slowest, longest)
	if away == 0 {
		t.Error("the primary was killed, and nobody noticed")
	}
	if longest > 10*time.Second {
		t.Errorf("a node served %v after the failover", longest)
	}
}

// load refreshes a family of its own at each node, over and over.
type load struct {
	stop    chan struct{}
	once    sync.Once
	running sync.WaitGroup

	mu      sync.Mutex
	away    int           // answers of 503
	slowest time.Duration // of those
	last    []time.Time   // when a node last served
	nodes   []*node
}

func (c *cluster) beginLoad(t *testing.T, v *visitor) *load {
	t.Helper()
	l := &load{stop: make(chan struct{}), last: make([]time.Time, nodesOfCluster), nodes: c.nodes}
	for i, n := range c.nodes {
		f := c.grant(t, v, n)
		l.running.Go(func() {
			for refresh := f.refresh; ; time.Sleep(10 * time.Millisecond) {
				select {
				case <-l.stop:
					return
				default:
				}
				sent := time.Now()
				a, err := c.refresh(n, refresh)
				took := time.Since(sent)
				l.mu.Lock()
				switch {
				case err == nil && a.status == http.StatusOK:
					refresh, l.last[i] = a.field("refresh_token"), sent
				case err == nil && a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "":
					l.away++
					l.slowest = max(l.slowest, took)
				default:
					t.Errorf("a refresh at %s while the primary changes: %v, %v", n.ID, a, err)
					l.mu.Unlock()
					return
				}
				l.mu.Unlock()
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

// served waits until a node has served what was sent after a moment, and returns when
// that was.
func (l *load) served(t *testing.T, n *node, after time.Time) time.Time {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		l.mu.Lock()
		last := l.last[slices.Index(l.nodes, n)]
		l.mu.Unlock()
		if last.After(after) {
			return last
		}
		if time.Now().After(deadline) {
			t.Fatal("a node does not serve again")
		}
	}
}

func (l *load) end() {
	l.once.Do(func() { close(l.stop) })
	l.running.Wait()
}
