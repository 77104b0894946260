package fairshare

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

type clock struct{ at time.Time }

func newClock() *clock                { return &clock{time.Unix(1_900_000_000, 0)} }
func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func TestSourceIncludesItsNetworks(t *testing.T) {
	for ip, want := range map[string]string{
		"192.0.2.7":           "[192.0.2.7/32 192.0.2.0/24 192.0.0.0/16]",
		"::ffff:192.0.2.7":    "[192.0.2.7/32 192.0.2.0/24 192.0.0.0/16]",
		"2001:db8:1:2ff:3::4": "[2001:db8:1:2ff::/64 2001:db8:1:200::/56 2001:db8:1::/48 2001:db8::/32]",
		"fe80::1%eth0":        "[fe80::/64 fe80::/56 fe80::/48 fe80::/32]",
		"":                    "[]",
		"unknown":             "[]",
		"192.0.2.7:1234":      "[]",
		"2001:db8::1/64":      "[]",
	} {
		s := From(ip)
		if got := fmt.Sprint(s.Networks()); got != want {
			t.Errorf("%q: %s, want %s", ip, got, want)
		}
	}
	if From("") != From("x") {
		t.Error("all that is no address is not one source")
	}
}

// The orders in which greedy sources come: each takes all it gets before the next, or all
// take in turn.
var orders = map[string]func(r *Rate, sources []Source){
	"one after the other": func(r *Rate, sources []Source) {
		for _, s := range sources {
			for ok := true; ok; {
				ok, _ = r.Take(s, 1)
			}
		}
	},
	"in turn": func(r *Rate, sources []Source) {
		for more := true; more; {
			more = false
			for _, s := range sources {
				if ok, _ := r.Take(s, 1); ok {
					more = true
				}
			}
		}
	},
}

// networks are n sources, each in a network of its own of that many bits.
func networks(n, bits int) (of []Source) {
	for i := range n {
		switch bits {
		case 4:
			of = append(of, From(fmt.Sprintf("%d.%d.1.9", 1+i/256, i%256)))
		case 16:
			of = append(of, From(fmt.Sprintf("10.9.%d.%d", i/256, i%256)))
		case 64: // all in one /48
			of = append(of, From(fmt.Sprintf("2001:db8:7:%x::1", i)))
		case 48: // all in one /32
			of = append(of, From(fmt.Sprintf("2001:db8:%x::1", i)))
		case 32:
			of = append(of, From(fmt.Sprintf("2%03x:%x::1", i/4096, i%4096)))
		}
	}
	return of
}

// A request that costs several units has its part in the reserve, within the quotas.
func TestReserveAppliesToRequestsOfAnyCost(t *testing.T) {
	full := func(limit int) *Rate {
		r := NewRate(limit, time.Minute, newClock().now)
		for range limit {
			r.Take(From("203.0.113.1"), 1)
		}
		return r
	}
	take := func(r *Rate, ip string, n int) bool {
		ok, _ := r.Take(From(ip), n)
		return ok
	}
	r := full(12_000) // a /24 has 93 of the 6000 units, a /16 has 375
	for i := range 10 {
		if ok := take(r, fmt.Sprintf("192.0.2.%d", i), 9); !ok {
			t.Fatalf("newcomer %d of a network with 93 units is refused 9", i)
		}
	}
	if take(r, "192.0.2.100", 4) {
		t.Error("94 units of 93 for one network")
	}
	if !take(r, "192.0.2.100", 3) || take(r, "192.0.2.101", 1) {
		t.Error("the 93rd unit is refused, or there is another")
	}
	if take(r, "192.0.2.1", 1) {
		t.Error("who holds something gets more")
	}
	if r := full(20); take(r, "2001:db8::1", 3) || !take(r, "2001:db8::1", 2) { // 10 units, 2 of them for a /56
		t.Error("a cost above the quota of a network, or at it")
	}
	if r := full(20); !take(r, "192.0.2.1", 4) || !take(r, "198.51.100.1", 4) || take(r, "203.0.114.1", 3) || !take(r, "203.0.114.1", 2) {
		t.Error("the reserve has 10 units")
	}
}

func TestRateIsExactAndReportsRetryTime(t *testing.T) {
	c := newClock()
	r := NewRate(4, time.Minute, c.now)
	one, other := From("192.0.2.1"), From("198.51.100.1")
	take := func(s Source, n int, want bool, wait time.Duration) {
		t.Helper()
		if ok, retry := r.Take(s, n); ok != want || retry != wait {
			t.Errorf("%t, %v; want %t, %v", ok, retry, want, wait)
		}
	}
	take(one, 1, true, 0)
	c.pass(10 * time.Second)
	take(one, 2, true, 0)
	take(other, 3, false, 50*time.Second) // more than the reserve has
	take(other, 1, true, 0)
	take(one, 1, false, 50*time.Second)
	take(other, 1, false, 50*time.Second)
	for _, ip := range []string{"203.0.113.1", "203.1.113.1"} {
		take(From(ip), 1, true, 0) // of the reserve
	}
	take(From("203.2.113.1"), 1, false, 50*time.Second)
	c.pass(50 * time.Second)
	take(From("203.2.113.1"), 1, true, 0)
	take(From("203.3.113.1"), 1, false, 10*time.Second)
	if ok, retry := NewRate(2, time.Minute, c.now).Take(one, 3); ok || retry != time.Minute {
		t.Errorf("more than ever fits: %t, %v", ok, retry)
	}
}

func TestPlacesAreSharedAndReturned(t *testing.T) {
	p := NewPlaces(100)
	var leave []func()
	for _, s := range networks(30, 4) {
		for {
			l, _ := p.Enter(s, 10)
			if l == nil {
				break
			}
			leave = append(leave, l)
		}
	}
	if len(leave) != 100+20 {
		t.Errorf("30 addresses have %d places", len(leave))
	}
	newcomer := From("198.51.100.1")
	l, full := p.Enter(newcomer, 50)
	if l == nil || full {
		t.Fatalf("a newcomer finds no place among %d", len(leave))
	}
	if again, full := p.Enter(newcomer, 50); again != nil || !full {
		t.Error("a newcomer has two places of the reserve")
	}
	l()
	if l, full := p.Enter(networks(1, 4)[0], 1); l != nil || full {
		t.Errorf("beyond the address's own: %t", full)
	}
	if l, full := NewPlaces(0).Enter(newcomer, 1); l != nil || !full {
		t.Errorf("without places: %t", full)
	}
	for _, l := range leave {
		l()
	}
	if p.share.totalUnits() != 0 || len(p.share.open.of)+len(p.share.reserve.of) != 0 {
		t.Errorf("%d places and %d networks are left", p.share.totalUnits(), len(p.share.open.of))
	}
}

// order lets all that arrive wait, then gives turns and returns who had them.
func order(t *testing.T, q *Queue, arrivals []Source, vouched map[int]bool) (got []int) {
	t.Helper()
	if err := q.Enter(t.Context(), Source{}, false, time.Minute); err != nil {
		t.Fatal(err)
	}
	turns := make(chan int)
	for i, s := range arrivals {
		go func() {
			if err := q.Enter(context.Background(), s, vouched[i], time.Minute); err != nil {
				i = -1
			}
			turns <- i
		}()
		synctest.Wait()
	}
	for range arrivals {
		q.Leave()
		got = append(got, <-turns)
	}
	q.Leave()
	return got
}

func TestSourceWithFewestTurnsIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 100, time.Now)
		greedy, light := From("192.0.2.1"), From("198.51.100.1")
		network := networks(3, 64)
		for name, c := range map[string]struct {
			arrivals []Source
			vouched  map[int]bool
			want     string
		}{
			"a newcomer among many of one address": {[]Source{greedy, greedy, greedy, light}, nil, "[0 3 1 2]"},
			"addresses of one network":             {[]Source{network[0], network[1], network[2], light, network[0]}, nil, "[0 3 1 2 4]"},
			"every other turn for the vouched":     {[]Source{greedy, light, greedy, greedy, greedy, greedy}, map[int]bool{3: true, 4: true, 5: true}, "[3 1 4 0 5 2]"},
		} {
			if got := fmt.Sprint(order(t, q, c.arrivals, c.vouched)); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
			time.Sleep(recentTime)
		}
	})
}

func TestWaitersAreLimitedAndTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(2, 40, time.Now)
		for range 2 {
			if err := q.Enter(t.Context(), Source{}, false, time.Second); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		wait := func(ctx context.Context, s Source, vouched bool) {
			all.Go(func() {
				if err := q.Enter(ctx, s, vouched, 3*time.Second); !errors.Is(err, ErrBusy) && !errors.Is(err, ErrShare) {
					t.Errorf("%v", err)
				}
			})
			synctest.Wait()
		}
		one := From("192.0.2.1")
		for range 100 {
			wait(t.Context(), one, false)
		}
		if n := len(q.strangers.waiting); n != 40 {
			t.Errorf("one address has %d places, want 40", n)
		}
		for _, s := range networks(100, 4) {
			wait(t.Context(), s, false)
		}
		if n := len(q.strangers.waiting); n != 60 {
			t.Errorf("%d wait, want 60", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 100 {
			wait(ctx, one, true)
		}
		if n := len(q.vouched.waiting); n != 10 {
			t.Errorf("%d who are vouched for wait, want 10", n)
		}
		cancel()
		synctest.Wait()
		if n := len(q.vouched.waiting); n != 0 {
			t.Errorf("%d wait who have gone", n)
		}
		all.Wait()
		if len(q.strangers.waiting) != 0 || q.strangers.share.totalUnits() != 0 {
			t.Errorf("after their patience %d wait", len(q.strangers.waiting))
		}
		for range 10_000 {
			q.Leave()
			if err := q.Enter(t.Context(), one, false, time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if len(q.turns) > recentTurns || q.had.total > recentTurns {
			t.Errorf("%d turns are remembered", len(q.turns))
		}
		q.Leave()
		q.Leave()
		if q.in != 0 {
			t.Errorf("%d are in", q.in)
		}
	})
}

// No turn is lost when patience ends in the moment it is given.
func TestQueueTurnsAreNotLost(t *testing.T) {
	q := NewQueue(3, 1000, time.Now)
	var all sync.WaitGroup
	var mu sync.Mutex
	in, most, had := 0, 0, 0
	for i := range 400 {
		all.Go(func() {
			if q.Enter(context.Background(), From(fmt.Sprint("10.0.0.", i%200)), i%7 == 0, time.Duration(i%20)*time.Millisecond) != nil {
				return
			}
			mu.Lock()
			in++
			most, had = max(most, in), had+1
			mu.Unlock()
			time.Sleep(200 * time.Microsecond)
			mu.Lock()
			in--
			mu.Unlock()
			q.Leave()
		})
	}
	all.Wait()
	if q.in != 0 || most > 3 || had < 3 {
		t.Errorf("%d are in, %d were at one time, %d had a turn", q.in, most, had)
	}
}

func (h *share) totalUnits() int { return h.open.total + h.reserve.total }
