package redis

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// With leases no window has more than the limit, a request is refused only for what was used or is
// held, and nothing is lost but what a node held that died.
func TestLeasesAreExact(t *testing.T) {
	t.Parallel()
	testLeasesAreExact(t, redistest.Shared(t).URL(), soak(6, 600), false)
}

func testLeasesAreExact(t *testing.T, url string, runs int, divided bool) {
	base, local := uint64(time.Now().UnixNano()), 0
	for n := range runs {
		seed := base + uint64(n)
		w := newLeaseWorld(t, url, seed)
		crashes := n%2 == 1
		user, all := one("user", 640+w.Int64N(1000), time.Minute, "u"), one("all", 640+w.Int64N(2000), 15*time.Second, "")
		if w.divided = divided; divided {
			user.Policy.Place, all.Policy.Place = ratelimit.BySubject, "all:15000"
		}
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
		if least := int64(limit - (n-1)*(limit/leasePart)); got > limit || got < least {
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
		if got != limit {
			t.Errorf("%d nodes: %d passed after they gave back what they held, want %d", n, got, limit)
		}
	}
}

// A sequence of requests is told the same as without leases, and goes to Redis seldom.
func TestLeaseTellsWhatRemains(t *testing.T) {
	now := time.UnixMilli(1_900_000_000_000)
	clock := func() time.Time { return now }
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), fmt.Sprintf("tells-%x:", time.Now().UnixNano()), patient), nodes: 1, now: clock, clock: clock, denials: maxDenials, leases: 100})
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
	var k *encodedRequest
	for i := range 50_000 {
		c.Subject = fmt.Sprint(i / (2 * minLeaseUses))
		r := &ratelimit.Request{Charges: []ratelimit.Charge{c}}
		k = encodeRequest("", r, keyBudget{})
		if _, _, n := l.use(k, r, now); n > 0 {
			grant(l, k, n, now)
		}
	}
	if n := len(l.current) + len(l.earlier); n > 100 || n < 50 {
		t.Errorf("%d entries, 50 to 100 should be kept", n)
	}
	if n := len(l.held); n != 100 {
		t.Errorf("%d leases are held, want 100", n)
	}
	l.endLeases(true, now)
	if len(l.held) > 0 || len(l.units) > 0 || l.reserve(k, 1) != 1 {
		t.Errorf("%d leases and %d keys are left", len(l.held), len(l.units))
	}
}

// Callers that come seldom get no lease, even if they are so many that they are counted together.
func TestSeldomCallersAreNotLeased(t *testing.T) {
	l, now := newLeases(maxLeases), time.Now()
	c := one("p", 1<<20, time.Minute, "")
	for i := range 400_000 {
		c.Subject = fmt.Sprint(i % 200_000)
		r := &ratelimit.Request{Charges: []ratelimit.Charge{c}}
		if _, _, n := l.use(encodeRequest("", r, keyBudget{}), r, now); n > 0 {
			t.Fatalf("request %d is worth %d more", i, n)
		}
	}
}

// grant has Redis grant what it is asked for.
func grant(l *leases, k *encodedRequest, want int, now time.Time) (got int) {
	g := &group{encodedRequest: k, n: 1, lease: l.reserve(k, want)}
	if g.lease > 0 {
		a := &answer{at: now.UnixMilli() / 60_000 * 60_000, asked: 1, admitted: 1 + g.lease, counts: make([]chargeCount, len(k.charges))}
		l.settle("", g, a, now, now)
	}
	return g.lease
}

// A limit that many callers share is held to a 64th as well, by all of them together.
func TestSharedLimitIsLeasedInSmallPart(t *testing.T) {
	l, now, held := newLeases(100), time.Now(), 0
	for i := range 50 {
		r := &ratelimit.Request{Charges: []ratelimit.Charge{one("user", 1<<20, time.Minute, fmt.Sprint(i)), one("all", 6400, time.Minute, "")}}
		held += grant(l, encodeRequest("", r, keyBudget{}), 7, now)
	}
	if held != 100 {
		t.Errorf("a node holds %d of 6400, want 100", held)
	}
	for range 7 {
		r := &ratelimit.Request{Charges: []ratelimit.Charge{one("user", 1<<20, time.Minute, "0"), one("all", 6400, time.Minute, "")}}
		if _, ok, _ := l.use(encodeRequest("", r, keyBudget{}), r, now); !ok {
			t.Error("a lease is gone")
		}
	}
	r := &ratelimit.Request{Charges: []ratelimit.Charge{one("all", 6400, time.Minute, "")}}
	if n := grant(l, encodeRequest("", r, keyBudget{}), 99, now); n != 7 {
		t.Errorf("%d were granted after 7 had been used", n)
	}
}

func TestUnansweredReservationEnds(t *testing.T) {
	l, now := newLeases(100), time.Now()
	k := encodeRequest("", &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 6400, time.Minute, "")}}, keyBudget{})
	for range 3 {
		g := &group{encodedRequest: k, n: 1, lease: l.reserve(k, 100)}
		if l.settle("", g, nil, now, now); g.lease != 100 || len(l.units) > 0 {
			t.Fatalf("%d reserved, %v left", g.lease, l.units)
		}
	}
}

// A machine that slept must not use what has expired: its monotonic clock did not run.
func TestLeaseEndsByTheWallClockToo(t *testing.T) {
	l, now := newLeases(100), time.Now()
	r := &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 6400, time.Minute, "")}}
	k := encodeRequest("", r, keyBudget{})
	for range minLeaseUses {
		l.use(k, r, now)
	}
	grant(l, k, 10, now)
	if _, ok, _ := l.use(k, r, now); !ok {
		t.Fatal("no lease")
	}
	l.current[k.vector].wall = now.UnixNano()
	if _, ok, _ := l.use(k, r, now); ok {
		t.Error("a lease that has expired was used")
	}
}

// After a reload a lower limit is in force at once, and what was leased under the higher one is given back.
func TestLeaseEndsWithItsLimit(t *testing.T) {
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), fmt.Sprintf("lower-%x:", time.Now().UnixNano()), patient), nodes: 1, denials: maxDenials, leases: 100})
	high, low := one("p", 64_000, time.Hour, "s"), one("p", 700, time.Hour, "s")
	for range 800 {
		decide(t, s, 1, high)
	}
	if decide(t, s, 1, low).Admitted {
		t.Error("a request was admitted above the lower limit")
	}
	s.giveBackUnused(true)
	if left := decide(t, s, 64_001, high).Results[0].Remaining; left != 64_000-800 {
		t.Errorf("%d are left of 64000 after 800", left)
	}
}
