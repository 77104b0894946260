package redis

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// scripts is how often the server ran one.
func scripts(t *testing.T, s *redistest.Server) int {
	t.Helper()
	_, after, _ := strings.Cut(s.CLI("INFO", "commandstats"), "cmdstat_evalsha:calls=")
	n, _, _ := strings.Cut(after, ",")
	calls, err := strconv.Atoi(n)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func TestRepeatedRefusalsCostNoRedisCalls(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, config{settings: settings(t, server.URL(), "quiet:", patient), nodes: 1, denials: maxDenials})
	c := one("p", 1, time.Minute, "s")
	decide(t, s, 1, c)
	first := decide(t, s, 1, c)
	before := scripts(t, server)
	begin := time.Now()
	for range 1000 {
		v := decide(t, s, 1, c)
		if r := v.Results[0]; v.Admitted || !r.Violated || !r.Reset.Equal(first.Results[0].Reset) || r.Retry > first.Results[0].Retry || !v.At.Add(r.Retry).Equal(r.Reset) {
			t.Fatalf("%+v after %+v", v, first)
		}
	}
	if n := scripts(t, server) - before; n > 2+int(time.Since(begin)/maxDenial) {
		t.Fatalf("%d round trips in %v", n, time.Since(begin))
	}
	// A flush or a failover may have made room.
	server.CLI("FLUSHALL")
	for freed := time.Now(); !decide(t, s, 1, c).Admitted; time.Sleep(time.Millisecond) {
		if time.Since(freed) > maxDenial+200*time.Millisecond {
			t.Fatal("still refused")
		}
	}
}

func TestHigherLimitIgnoresDenialsOfALowerOne(t *testing.T) { // L14
	s := open(t, config{settings: settings(t, redistest.Shared(t).URL(), "higher:", patient), nodes: 1, denials: maxDenials})
	decide(t, s, 1, one("p", 1, time.Minute, "s"))
	if decide(t, s, 1, one("p", 1, time.Minute, "s")).Admitted || !decide(t, s, 1, one("p", 2, time.Minute, "s")).Admitted {
		t.Fatal("the limits are mixed up")
	}
	loose := one("p", 2, time.Minute, "s")
	loose.Policy.DryRun = true
	if decide(t, s, 1, one("p", 2, time.Minute, "s")).Admitted || !decide(t, s, 1, loose).Admitted {
		t.Fatal("a dry run refuses")
	}
}

// No request is refused at a time at which it would fit. The server's clock is this machine's.
func TestCachedDenialEndsInTime(t *testing.T) {
	t.Parallel()
	url := redistest.Shared(t).URL()
	s := open(t, config{settings: settings(t, url, "sound:", patient), nodes: 1, denials: maxDenials})
	stop := time.Now().Add(soak(2*time.Second, time.Minute))
	var all sync.WaitGroup
	for g := range 6 {
		all.Go(func() {
			a, b := one("a", 3, time.Second, fmt.Sprint(g%3)), one("b", 7, 1234*time.Millisecond, "all")
			for n := 0; time.Now().Before(stop); n++ {
				before := time.Now()
				v := decide(t, s, int64(1+n%3), a, b)
				if r := v.Reported(); !v.Admitted && !v.At.Add(r.Retry).After(before.Truncate(time.Millisecond)) {
					t.Errorf("refused at %v until %v", before, v.At.Add(r.Retry))
				}
				time.Sleep(time.Duration(n%5) * time.Millisecond)
			}
		})
	}
	all.Wait()
}

func TestDenialsCountFromTheMomentOfSending(t *testing.T) {
	d := newDenials(100)
	k := encodeRequest("", &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 1, time.Minute, "s")}}, keyBudget{})
	a := &answer{at: 1_900_000_000_000, asked: 1, counts: []chargeCount{{total: 1, free: 700, retry: 700}}}
	sent := time.Now()
	d.remember(k, a, sent, sent.Add(300*time.Millisecond))
	if d.find(k, sent.Add(698*time.Millisecond)) == nil || d.find(k, sent.Add(699*time.Millisecond)) != nil {
		t.Error("it is not refused until 699 ms after it was sent")
	}
	a.counts[0].retry = 60_000
	d.remember(k, a, sent, sent)
	if d.find(k, sent.Add(998*time.Millisecond)) == nil || d.find(k, sent.Add(maxDenial)) != nil {
		t.Error("it is not asked again after a second")
	}
	a.counts[0].retry = 200
	d = newDenials(100)
	if d.remember(k, a, sent, sent.Add(200*time.Millisecond)); len(d.current) != 0 {
		t.Error("what lapsed on the way is remembered")
	}
	a.admitted, a.counts[0] = 1, chargeCount{total: 1, free: 700, fitted: 1}
	if d.remember(k, a, sent, sent); len(d.current) != 0 {
		t.Error("an admission is remembered")
	}
}

// Of two policies that refuse a request, one frees earlier.
func TestCachedDenialNamesOnlyPoliciesStillDenying(t *testing.T) {
	r := &ratelimit.Request{Charges: []ratelimit.Charge{one("short", 5, time.Second, "s"), one("long", 1, time.Minute, "s")}}
	k := encodeRequest("", r, keyBudget{})
	a := &answer{asked: 1, counts: []chargeCount{{total: 5, free: 300, retry: 300}, {total: 1, free: 900, retry: 900}}}
	for later, want := range map[time.Duration]bool{0: true, 299 * time.Millisecond: true, 300 * time.Millisecond: false} {
		v := a.verdict(k, r, 0, later)
		short, long := v.Results[0], v.Results[1]
		if v.Admitted || short.Violated != want || (short.Retry > 0) != want || !long.Violated || long.Retry != 900*time.Millisecond-later {
			t.Errorf("%v later: %+v", later, v)
		}
	}
}

func TestRememberedDenialsAreLimited(t *testing.T) {
	d := newDenials(100)
	a := &answer{asked: 1, counts: []chargeCount{{total: 1, retry: 900}}}
	now := time.Now()
	for i := range 1000 {
		k := encodeRequest("", &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 1, time.Minute, fmt.Sprint(i))}}, keyBudget{})
		d.remember(k, a, now, now)
		if d.find(k, now) == nil {
			t.Fatal("the newest is not remembered")
		}
		if n := len(d.current) + len(d.earlier); n > 100 {
			t.Fatalf("%d are remembered", n)
		}
	}
	k := encodeRequest("", &ratelimit.Request{Charges: []ratelimit.Charge{one("p", 1, time.Minute, "later")}}, keyBudget{})
	d.remember(k, a, now.Add(2*time.Second), now.Add(2*time.Second))
	d.remember(k, a, now.Add(4*time.Second), now.Add(4*time.Second))
	if n := len(d.current) + len(d.earlier); n > 2 {
		t.Fatalf("%d are remembered when all but two have lapsed", n)
	}
}

func BenchmarkRefusedLocally(b *testing.B) {
	s := open(b, config{settings: settings(b, redistest.Shared(b).URL(), "bench:", patient), nodes: 1, denials: maxDenials})
	r := ratelimit.Request{Charges: []ratelimit.Charge{one("p", 1, time.Hour, "s")}, Results: make([]ratelimit.Result, 0, 1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Decide(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}
