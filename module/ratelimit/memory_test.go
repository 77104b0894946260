package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/ratelimit/sourcetest"
)

func memory(t testing.TB, keys int, now func() time.Time) *ratelimit.Memory {
	t.Helper()
	m, err := ratelimit.NewMemory(ratelimit.MemoryConfig{Keys: keys, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMemory(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T, now func() time.Time) ratelimit.Source { return memory(t, 0, now) })
}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Unix(1_900_000_000, 0)} }

func ask(t testing.TB, m *ratelimit.Memory, cost int64, charges ...ratelimit.Charge) ratelimit.Verdict {
	t.Helper()
	v, err := m.Decide(context.Background(), ratelimit.Request{Charges: charges, Cost: cost})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAtTheCapExpiredKeysGiveWayAndNewSubjectsShareABucket(t *testing.T) {
	c := newClock()
	m := memory(t, 10, c.now)
	brief := &ratelimit.Policy{Name: "brief", Limit: 5, Window: time.Second}
	p := &ratelimit.Policy{Name: "p", Limit: 5, Window: time.Minute}
	other := &ratelimit.Policy{Name: "other", Limit: 1, Window: time.Minute}
	for i := range 9 {
		ask(t, m, 4, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)})
	}
	ask(t, m, 1, ratelimit.Charge{Policy: brief, Subject: "x"})
	c.at = c.at.Add(2 * time.Second)
	if v := ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: "9"}); v.Results[0].Shared {
		t.Fatal("a subject shares a bucket while an expired key holds its place")
	}
	passed := 0
	for i := range 1000 {
		v := ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint("new", i)})
		if !v.Results[0].Shared {
			t.Fatal("there was room for one more")
		}
		if v.Admitted {
			passed++
		}
	}
	if passed != 5 {
		t.Fatalf("%d of the new subjects passed, want the limit of 5", passed)
	}
	if v := ask(t, m, 1, ratelimit.Charge{Policy: other, Subject: "new"}); !v.Admitted {
		t.Fatal("one policy's bucket was counted for another's")
	}
	if v := ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: "0"}); !v.Admitted || v.Results[0].Shared {
		t.Fatal("a subject that has a key was counted with others")
	}
	if s := m.Stats(); s.Keys != 10 || s.Cap != 10 || s.Shared != 1001 {
		t.Fatalf("Stats = %+v", s)
	}
	c.at = c.at.Add(2 * time.Minute)
	if v := ask(t, m, 5, ratelimit.Charge{Policy: p, Subject: "new0"}); !v.Admitted || v.Results[0].Shared {
		t.Fatal("no room was made when everything had expired")
	}
}

func TestTheFirstToExpireIsNotTheFirstToArrive(t *testing.T) {
	c := newClock()
	m := memory(t, 2, c.now)
	p := &ratelimit.Policy{Name: "p", Limit: 5, Window: 2 * time.Second}
	for _, s := range []string{"a", "b", "a"} {
		ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: s})
		c.at = c.at.Add(time.Second)
	}
	c.at = c.at.Add(100 * time.Millisecond)
	if v := ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: "c"}); v.Results[0].Shared {
		t.Fatal("an expired key did not give way, because an older one was still in use")
	}
}

func TestASubjectThatLeavesTheSharedBucketTakesItsCountAlong(t *testing.T) {
	c := newClock()
	m := memory(t, 1, c.now)
	brief := &ratelimit.Policy{Name: "brief", Limit: 5, Window: time.Second}
	p := ratelimit.Charge{Policy: &ratelimit.Policy{Name: "p", Limit: 5, Window: time.Minute}, Subject: "s"}
	ask(t, m, 1, ratelimit.Charge{Policy: brief, Subject: "x"})
	ask(t, m, 3, p)
	c.at = c.at.Add(2 * time.Second)
	if v := ask(t, m, 1, p); v.Results[0].Shared || v.Results[0].Remaining != 1 {
		t.Fatalf("%+v", v)
	}
}

func TestNoSubjectIsOverItsLimitHoweverFullTheMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newClock()
		m, err := ratelimit.NewMemory(ratelimit.MemoryConfig{Keys: rapid.IntRange(1, 5).Draw(t, "keys"), Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		policies := []*ratelimit.Policy{
			{Name: "a", Limit: rapid.Int64Range(1, 4).Draw(t, "a"), Window: time.Second},
			{Name: "b", Limit: rapid.Int64Range(1, 4).Draw(t, "b"), Window: 3 * time.Second},
		}
		type key struct{ policy, subject int }
		log := map[key][]time.Time{}
		for range 150 {
			c.at = c.at.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "pause")) * time.Millisecond)
			var keys []key
			var charges []ratelimit.Charge
			for i, p := range policies {
				k := key{i, rapid.IntRange(0, 5).Draw(t, "subject")}
				keys, charges = append(keys, k), append(charges, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(k.subject)})
			}
			v, err := m.Decide(context.Background(), ratelimit.Request{Charges: charges})
			if err != nil {
				t.Fatal(err)
			}
			if s := m.Stats(); s.Keys > s.Cap {
				t.Fatalf("%d keys over the cap of %d", s.Keys, s.Cap)
			}
			if !v.Admitted {
				continue
			}
			for i, k := range keys {
				log[k] = append(log[k], c.at)
				within := int64(0)
				for _, at := range log[k] {
					if c.at.Sub(at) <= policies[i].Window {
						within++
					}
				}
				if within > policies[i].Limit {
					t.Fatalf("policy %d, subject %d: %d in a window, over %d", i, k.subject, within, policies[i].Limit)
				}
			}
		}
	})
}

func TestRefusedSubjectsTakeNoMemory(t *testing.T) {
	m := memory(t, 0, newClock().now)
	full := ratelimit.Charge{Policy: &ratelimit.Policy{Name: "full", Limit: 1, Window: time.Minute}, Subject: "all"}
	p := &ratelimit.Policy{Name: "p", Limit: 1, Window: time.Minute}
	ask(t, m, 1, full)
	for i := range 1000 {
		ask(t, m, 1, full, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)})
	}
	if s := m.Stats(); s.Keys != 1 || s.Shared != 0 {
		t.Fatalf("Stats = %+v", s)
	}
}

func TestUseShrinksTheMemory(t *testing.T) {
	c := newClock()
	m := memory(t, 1000, c.now)
	for i := range 500 {
		p := &ratelimit.Policy{Name: "p", Limit: 1, Window: time.Second * time.Duration(1+i%5)}
		ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)})
	}
	c.at = c.at.Add(time.Hour)
	p := &ratelimit.Policy{Name: "p", Limit: 1, Window: time.Second}
	for range 20 {
		ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: "one"})
	}
	if s := m.Stats(); s.Keys != 1 {
		t.Fatalf("%d keys are still held", s.Keys)
	}
}

func TestAKeyCostsAboutHalfAKilobyte(t *testing.T) {
	const keys = 4_000
	m := memory(t, 0, newClock().now)
	p := &ratelimit.Policy{Name: "p", Limit: 1 << 30, Window: time.Minute}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range keys {
		ask(t, m, 1000, ratelimit.Charge{Policy: p, Subject: fmt.Sprintf("%064d", i) + strings.Repeat("x", 10_000)})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (after.HeapAlloc - before.HeapAlloc) / keys; each > 700 {
		t.Fatalf("%d bytes for each key", each)
	}
	runtime.KeepAlive(m)
}

func TestParallelRequestsAtTheCap(t *testing.T) {
	m := memory(t, 4096, time.Now) // several shards
	p := &ratelimit.Policy{Name: "p", Limit: 3, Window: time.Hour}
	q := &ratelimit.Policy{Name: "q", Limit: 1 << 20, Window: time.Hour}
	var passed [500]int
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 5000 {
				if i%10 == 0 {
					s := g*125 + i/10%125
					if ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint("s", s)}, ratelimit.Charge{Policy: q, Subject: "all"}).Admitted {
						passed[s]++
					}
					continue
				}
				ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(g, i)}, ratelimit.Charge{Policy: q, Subject: fmt.Sprint(i)})
			}
		})
	}
	all.Wait()
	for s, n := range passed {
		if n > 3 {
			t.Errorf("subject %d: %d passed", s, n)
		}
	}
	if s := m.Stats(); s.Keys > 4096 || s.Shared == 0 {
		t.Fatalf("Stats = %+v", s)
	}
}

func TestTheUsualDecisionAllocatesNothing(t *testing.T) {
	m := memory(t, 0, time.Now)
	r := usual()
	if n := testing.AllocsPerRun(100, func() {
		if _, err := m.Decide(context.Background(), r); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func usual() ratelimit.Request {
	return ratelimit.Request{
		Charges: []ratelimit.Charge{
			{Policy: &ratelimit.Policy{Name: "client", Limit: 1 << 30, Window: time.Hour}, Subject: "client-1"},
			{Policy: &ratelimit.Policy{Name: "user", Limit: 1 << 30, Window: time.Minute}, Subject: "user-1"},
		},
		Results: make([]ratelimit.Result, 0, 2),
	}
}

func BenchmarkDecideTwoPolicies(b *testing.B) {
	m := memory(b, 0, time.Now)
	r := usual()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Decide(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func TestPoliciesAreChecked(t *testing.T) {
	good := ratelimit.Policy{Name: "by.tenant_1-x", Limit: 1<<32 - 1, Window: time.Hour}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*ratelimit.Policy){
		"no name":             func(p *ratelimit.Policy) { p.Name = "" },
		"long name":           func(p *ratelimit.Policy) { p.Name = strings.Repeat("n", 65) },
		"a quote in the name": func(p *ratelimit.Policy) { p.Name = `a"b` },
		"a line in the name":  func(p *ratelimit.Policy) { p.Name = "a\r\nb" },
		"no limit":            func(p *ratelimit.Policy) { p.Limit = 0 },
		"limit too high":      func(p *ratelimit.Policy) { p.Limit = 1 << 32 },
		"no window":           func(p *ratelimit.Policy) { p.Window = 0 },
		"window too short":    func(p *ratelimit.Policy) { p.Window = time.Second - time.Millisecond },
		"window too long":     func(p *ratelimit.Policy) { p.Window = 367 * 24 * time.Hour },
		"part of a ms":        func(p *ratelimit.Policy) { p.Window = time.Second + time.Microsecond },
	} {
		p := good
		if change(&p); p.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := ratelimit.NewMemory(ratelimit.MemoryConfig{Keys: -1}); err == nil {
		t.Error("a negative number of keys was accepted")
	}
	if !errors.Is((&ratelimit.Request{Cost: -1}).Check(), ratelimit.ErrRequest) {
		t.Error("a negative cost was accepted")
	}
}
