package redis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// leaseWorld is nodes with leases on one Redis, whose time the test moves.
type leaseWorld struct {
	*testing.T
	*rand.Rand
	url, prefix string
	now         atomic.Int64 // ms since the epoch
	nodes       []*Source
	used        map[string][]leaseUse
	lost        map[string]int64 // units that nodes held when they died
	local       int              // decisions without Redis
}

// leaseUse is what was admitted under a key.
type leaseUse struct{ at, cost int64 }

func newLeaseWorld(t *testing.T, url string, seed uint64) *leaseWorld {
	w := &leaseWorld{
		T: t, Rand: rand.New(rand.NewPCG(seed, 9)), url: url, prefix: fmt.Sprintf("lease-%x:", seed),
		used: make(map[string][]leaseUse), lost: make(map[string]int64),
	}
	w.now.Store(1_900_000_000_000 + w.Int64N(60_000))
	for range 3 {
		w.nodes = append(w.nodes, w.openNode())
	}
	return w
}

func (w *leaseWorld) openNode() *Source {
	now := func() time.Time { return time.UnixMilli(w.now.Load()) }
	s := open(w.T, config{settings: settings(w.T, w.url, w.prefix, patient), nodes: 3, now: now, denials: maxDenials, leases: 100})
	s.conn.clock = now
	return s
}

// idle returns what nodes hold of a key and have not used, and what was lost.
func (w *leaseWorld) idle(key string) int64 {
	units := w.lost[key]
	for _, s := range w.nodes {
		s.leases.mu.Lock()
		for _, e := range s.leases.held {
			for i := range e.charges {
				if e.charges[i].key == key {
					units += int64(e.left) * e.cost
				}
			}
		}
		for _, u := range s.leases.unused {
			if u.key == key {
				units += u.units
			}
		}
		s.leases.mu.Unlock()
	}
	return units
}

func (w *leaseWorld) usedSince(key string, begin int64) (units int64) {
	for _, u := range w.used[key] {
		if u.at >= begin {
			units += u.cost
		}
	}
	return units
}

// ask decides on a request at a node and holds the verdict against the promises.
func (w *leaseWorld) ask(s *Source, cost int64, charges ...ratelimit.Charge) {
	w.Helper()
	r := &ratelimit.Request{Charges: charges, Cost: cost}
	k := encodeRequest(s.prefix+"limit:"+(place{limiter: "l"}).tag(), r, keyBudget{})
	before, idle := w.idle(k.charges[0].key), make([]int64, len(charges))
	for i := range k.charges {
		idle[i] = w.idle(k.charges[i].key)
	}
	v := decide(w.T, s, cost, charges...)
	now := w.now.Load()
	if w.idle(k.charges[0].key) < before {
		w.local++
	}
	for i := range k.charges {
		c, result := &k.charges[i], v.Results[i]
		inWindow := w.usedSince(c.key, now-c.window)
		if v.Admitted {
			if inWindow+cost > c.limit {
				w.Fatalf("%s: %d more after %d in a window, the limit is %d", c.key, cost, inWindow, c.limit)
			}
			w.used[c.key] = append(w.used[c.key], leaseUse{now, cost})
			if most := c.limit - inWindow - cost; result.Remaining > most {
				// What other nodes have used of it is known when Redis is asked next, within a second.
				if others := w.usedSince(c.key, now-maxLeaseTime.Milliseconds()); result.Remaining > most+others {
					w.Fatalf("%s: %d remain, at most %d do", c.key, result.Remaining, most)
				}
			}
		}
		if result.Violated {
			slot := c.slotLength()
			if possible := w.usedSince(c.key, now-c.window-slot) + idle[i]; possible+cost <= c.limit {
				w.Fatalf("%s: %d were refused with at most %d of %d in use", c.key, cost, possible, c.limit)
			}
		}
	}
}

// settle has all leases end and be given back.
func (w *leaseWorld) settle() {
	w.now.Add(maxLeaseTime.Milliseconds())
	for _, s := range w.nodes {
		s.giveBackUnused(false)
	}
}

// With leases no window has more than the limit, a request is refused only for what was used or is
// held, and nothing is lost but what a node held that died.
func TestLeasesAreExact(t *testing.T) {
	t.Parallel()
	url := redistest.Shared(t).URL()
	base, local := uint64(time.Now().UnixNano()), 0
	for n := range soak(6, 600) {
		seed := base + uint64(n)
		w := newLeaseWorld(t, url, seed)
		crashes := n%2 == 1
		user, all := one("user", 640+w.Int64N(1000), time.Minute, "u"), one("all", 640+w.Int64N(2000), 15*time.Second, "")
		for range 120 {
			node := w.IntN(len(w.nodes))
			charges := [][]ratelimit.Charge{{user}, {user, all}, {all}}[w.IntN(3)]
			cost := 1 + w.Int64N(2)
			for range w.IntN(60) {
				if w.IntN(3) == 0 {
					w.now.Add(w.Int64N(8))
				}
				w.ask(w.nodes[node], cost, charges...)
			}
			switch w.IntN(12) {
			case 0:
				w.settle()
			case 1:
				w.now.Add(w.Int64N(20_000))
			case 2:
				w.nodes[node].giveBackUnused(false)
			case 3:
				if crashes {
					w.crash(node)
				}
			default:
				w.now.Add(w.Int64N(400))
			}
		}
		local += w.local
		if !crashes {
			w.settle()
			w.checkTotals(user, all)
		}
	}
	t.Logf("%d decisions without Redis", local)
	if local < 100 {
		t.Errorf("only %d decisions came from leases", local)
	}
}

// crash replaces a node by one that knows nothing.
func (w *leaseWorld) crash(node int) {
	s := w.nodes[node]
	for _, u := range s.leases.endLeases(true, s.conn.clock()) {
		w.lost[u.key] += u.units
	}
	w.nodes[node] = w.openNode()
}

// checkTotals compares what Redis counts with what was admitted.
func (w *leaseWorld) checkTotals(charges ...ratelimit.Charge) {
	w.Helper()
	for _, c := range charges {
		k := encodeRequest(w.prefix+"limit:"+(place{limiter: "l"}).tag(), &ratelimit.Request{Charges: []ratelimit.Charge{c}}, keyBudget{})
		counted, slot, now := int64(0), k.charges[0].slotLength(), w.now.Load()
		for _, u := range w.used[k.charges[0].key] {
			if (u.at/slot+1)*slot+k.charges[0].window > now {
				counted += u.cost
			}
		}
		v := decide(w.T, w.nodes[0], c.Policy.Limit+1, c) // refused: it takes nothing
		if left := v.Results[0].Remaining; left != c.Policy.Limit-counted {
			w.Errorf("%s: %d remain, want %d", k.charges[0].key, left, c.Policy.Limit-counted)
		}
	}
}

// Many at once: one node admits exactly the limit, and three no more than it, and less by no more than they hold.
func TestLeasesAtOnce(t *testing.T) {
	t.Parallel()
	const limit = 2000
	url := redistest.Shared(t).URL()
	for _, n := range []int{1, 3} {
		var nodes []*Source
		prefix := fmt.Sprintf("leases%d-%x:", n, time.Now().UnixNano())
		for range n {
			nodes = append(nodes, open(t, config{settings: settings(t, url, prefix, patient), nodes: n, denials: maxDenials, leases: 100}))
		}
		c := one("p", limit, time.Hour, "s")
		var passed atomic.Int64
		each(3*limit, func(i int) {
			v, err := nodes[i%n].Decide(context.Background(), ratelimit.Request{Charges: []ratelimit.Charge{c}})
			if err != nil || v.Outage {
				t.Error(v, err)
			}
			if v.Admitted {
				passed.Add(1)
			}
		})
		got := passed.Load()
		if least := int64(limit - (n-1)*limit/leasePart); got > limit || got < least {
			t.Errorf("%d nodes: %d passed, want %d to %d", n, got, least, limit)
		}
		for _, s := range nodes {
			s.giveBackUnused(true)
		}
		for _, s := range nodes { // whoever comes next gets what was left
			for got < limit && decide(t, s, 1, c).Admitted {
				got++
			}
		}
		t.Logf("%d nodes: %d passed at once", n, passed.Load())
	}
}

// A sequence of requests is told the same as without leases, and goes to Redis seldom.
func TestLeaseTellsWhatRemains(t *testing.T) {
	now := time.UnixMilli(1_900_000_000_000)
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), fmt.Sprintf("tells-%x:", time.Now().UnixNano()), patient), nodes: 1, now: func() time.Time { return now }, denials: maxDenials, leases: 100})
	s.conn.clock = func() time.Time { return now }
	for _, cost := range []int64{1, 3} {
		c := one(fmt.Sprint("p", cost), 6400, time.Minute, "s")
		for n := range int64(100) {
			r := decide(t, s, cost, c).Results[0]
			want := ratelimit.Result{Policy: c.Policy, Limit: 6400, Remaining: 6400 - (n+1)*cost, Reset: now.Add(61 * time.Second)}
			if r != want {
				t.Fatalf("request %d of cost %d: %+v, want %+v", n, cost, r, want)
			}
		}
	}
	if n := len(s.leases.held); n != 2 {
		t.Fatalf("%d leases", n)
	}
}

func TestSmallLimitsAreNotLeased(t *testing.T) {
	dry, made := one("p", 1<<20, time.Minute, "s"), one("p", 1<<20, time.Minute, "s")
	dry.Policy.DryRun, made.Policy.Chosen = true, true
	for _, c := range []struct {
		charges []ratelimit.Charge
		cost    int64
		want    int
	}{
		{[]ratelimit.Charge{one("p", 639, time.Minute, "s")}, 1, 0},
		{[]ratelimit.Charge{one("p", 640, time.Minute, "s")}, 1, 10},
		{[]ratelimit.Charge{one("p", 640, time.Minute, "s")}, 11, 0},
		{[]ratelimit.Charge{one("p", 1<<20, 14*time.Second, "s")}, 1, 0},
		{[]ratelimit.Charge{one("p", 1<<20, time.Minute, "s"), one("q", 700, time.Minute, "s")}, 2, 5},
		{[]ratelimit.Charge{dry}, 1, 0},
		{[]ratelimit.Charge{made}, 1, 0},
	} {
		if got := encodeRequest("", &ratelimit.Request{Charges: c.charges, Cost: c.cost}, keyBudget{}).mostLeased(); got != c.want {
			t.Errorf("%+v, cost %d: %d, want %d", c.charges[0].Policy, c.cost, got, c.want)
		}
	}
}

func TestLeasesAreBounded(t *testing.T) {
	l, now := newLeases(100), time.Now()
	c := one("p", 1<<20, time.Minute, "")
	for i := range 50_000 {
		c.Subject = fmt.Sprint(i / minLeaseUses)
		r := &ratelimit.Request{Charges: []ratelimit.Charge{c}}
		l.use(encodeRequest("", r, keyBudget{}), r, now)
	}
	if n := len(l.current) + len(l.earlier); n > 100 || n < 50 {
		t.Fatalf("%d entries, 50 to 100 should be kept", n)
	}
}
