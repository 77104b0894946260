package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// told is how soon whoever needs the store must know that it is away. In a soak the machine
// is quiet; else other tests, nodes built for looking for races, and the servers that begin
// and end share its processors with them, which is up to a second that no node can do anything about.
var told = times(time.Second, 300*time.Millisecond)

// E06: the primary is killed under load. Meanwhile whoever needs the store is told 503,
// and nobody that a grant is not valid which is; the nodes find the new primary by
// themselves; and with a write concern nothing that was answered is undone. What comes back
// without one is reported.
func TestNodesSurviveARedisFailover(t *testing.T) {
	for _, replicas := range times([]int{1}, []int{1, 0}) {
		t.Run(fmt.Sprint("replicas ", replicas), func(t *testing.T) { killPrimaries(t, replicas) })
	}
}

func killPrimaries(t *testing.T, replicas int) {
	s := redistest.StartSentinel(t)
	concern := "prefix $PREFIX"
	if replicas > 0 {
		concern += fmt.Sprint("\n\t\t\treplicas ", replicas)
	}
	c := start(t, plan{url: s.URL(), tokens: "refresh_grace 1m", change: []string{
		"prefix $PREFIX\n\t\t\ttimeout $PATIENCE", concern,
		"{\n\t\t\ttimeout $PATIENCE\n\t\t}", "", // 200ms and 20ms, as ever
	}})
	v := c.signIn(t, c.nodes[0])
	var slowest, longest time.Duration
	away, spent, ended, lost := 0, 0, 0, 0
	twice, alive := 0, 0 // codes redeemed a second time, families that were revoked
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
		load := c.beginLoad(t, v, replicas > 0)
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
				sent := time.Now()
				if a, err := c.exchange(c.nodes[i%nodesOfCluster], code); err == nil && a.status == http.StatusOK {
					used = append(used, code)
				} else if !load.refused(a, err, time.Since(sent)) {
					t.Error("a code while the primary changes:", a, err)
				}
			}
		})
		busy.Go(func() {
			for i, f := range families {
				sent := time.Now()
				if a, err := c.revoke(c.nodes[i%nodesOfCluster], web, f.refresh); err == nil && a.status == http.StatusOK {
					revoked = append(revoked, f)
				} else if !load.refused(a, err, time.Since(sent)) {
					t.Error("a revocation while the primary changes:", a, err)
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
			longest = max(longest, load.serves(t, n, rejoined).Sub(rejoined))
		}
		t.Logf("promoted, %v later a replica again, %v later all nodes served", rejoined.Sub(promoted).Round(time.Millisecond), time.Since(rejoined).Round(time.Millisecond))
		load.end()
		away, spent, ended, lost = away+load.away, spent+len(used), ended+len(revoked), lost+load.lost
		slowest = max(slowest, load.slowest)
		for i, code := range used {
			a, err := c.exchange(c.nodes[i%nodesOfCluster], code)
			if err == nil && a.status == http.StatusOK {
				twice++
			} else if err != nil || !a.refusedGrant() {
				t.Error("a used code after the failover:", a, err)
			}
		}
		for i, f := range revoked {
			n := c.nodes[i%nodesOfCluster]
			a, err := c.refresh(n, f.refresh)
			if err == nil && a.status == http.StatusOK {
				alive++
				continue
			}
			if err != nil || !a.refusedGrant() {
				t.Error("a revoked refresh token after the failover:", a, err)
			}
			c.dies(t, n, f.access)
		}
	}
	t.Logf("%d failovers: of %d used codes %d were redeemed twice, of %d revoked families %d came back, %d of the load were lost", rounds, spent, twice, ended, alive, lost)
	t.Logf("%d answers of 503, the slowest of them after %v; all nodes served at most %v after there was a replica", away, slowest, longest)
	if replicas > 0 && twice+alive > 0 {
		t.Error("a failover has undone what was answered")
	}
	if slowest > told {
		t.Errorf("somebody was told after %v that the store is away, which must be within %v", slowest, told)
	}
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
	lost    int           // families of which the new primary knew nothing, or not the last
	last    []time.Time   // when a node last served
	nodes   []*node
}

// spare is how many families there are beside the first for each node when a failover may
// lose some.
const spare = 3

// beginLoad starts a load. kept says that no family can be lost.
func (c *cluster) beginLoad(t *testing.T, v *visitor, kept bool) *load {
	t.Helper()
	l := &load{stop: make(chan struct{}), last: make([]time.Time, nodesOfCluster), nodes: c.nodes}
	for i, n := range c.nodes {
		families := []family{c.grant(t, v, n)}
		for range spare {
			if !kept {
				families = append(families, c.grant(t, v, n))
			}
		}
		l.running.Go(func() {
			for ; ; time.Sleep(10 * time.Millisecond) {
				select {
				case <-l.stop:
					return
				default:
				}
				sent := time.Now()
				a, err := c.refresh(n, families[0].refresh)
				switch {
				case err == nil && a.status == http.StatusOK:
					families[0].refresh = a.field("refresh_token")
					l.served(i, sent)
				case l.refused(a, err, time.Since(sent)):
				case !kept && err == nil && a.refusedGrant() && len(families) > 1:
					families = families[1:]
					l.lose()
				default:
					t.Errorf("a refresh at %s while the primary changes: %v, %v", n.ID, a, err)
					return
				}
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

// refused notes an answer that says that the store is away, and how long it took. Other
// answers are not its business.
func (l *load) refused(a answer, err error, took time.Duration) bool {
	if err != nil || a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away++
	l.slowest = max(l.slowest, took)
	return true
}

func (l *load) served(i int, sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[i] = sent
}

func (l *load) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost++
}

// serves waits until a node has served what was sent after a moment, and returns when
// that was.
func (l *load) serves(t *testing.T, n *node, after time.Time) time.Time {
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
