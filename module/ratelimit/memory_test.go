package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/module/ratelimit/sourcetest"
)

func memory(t testing.TB, size int64, now func() time.Time) *ratelimit.Memory {
	t.Helper()
	m, err := ratelimit.NewMemory(ratelimit.MemoryConfig{Size: size, Now: now})
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
	m := memory(t, 0, c.now)
	for i := range 500 {
		p := &ratelimit.Policy{Name: "p", Limit: 1, Window: time.Second * time.Duration(1+i%5)}
		ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint(i)})
	}
	c.at = c.at.Add(time.Hour)
	p := &ratelimit.Policy{Name: "p", Limit: 1, Window: time.Second}
	for i := range 500 { // in every shard, some times
		ask(t, m, 1, ratelimit.Charge{Policy: p, Subject: fmt.Sprint("new", i)})
	}
	if s := m.Stats(); s.Keys != 500 {
		t.Fatalf("%d keys are held, want the 500 new ones", s.Keys)
	}
}

func TestParallelRequestsAtTheCap(t *testing.T) {
	m := memory(t, ratelimit.MinSize, time.Now)
	p := &ratelimit.Policy{Name: "p", Limit: 3, Window: time.Hour}
	q := &ratelimit.Policy{Name: "q", Limit: 1 << 20, Window: time.Hour}
	var passed [500]int
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 10_000 {
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
	if s := m.Stats(); s.Bytes > s.Size || s.Folded == 0 || s.Shared == 0 {
		t.Fatalf("Stats = %+v", s)
	}
}

func TestTypicalDecisionAllocatesNothing(t *testing.T) {
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
	for _, size := range []int64{-1, 1, ratelimit.MinSize - 1, ratelimit.MaxSize + 1} {
		if _, err := ratelimit.NewMemory(ratelimit.MemoryConfig{Size: size}); err == nil {
			t.Errorf("a size of %d was accepted", size)
		}
		if err := memory(t, 0, nil).Resize(size); err == nil {
			t.Errorf("a change to a size of %d was accepted", size)
		}
	}
	if !errors.Is((&ratelimit.Request{Cost: -1}).Check(), ratelimit.ErrRequest) {
		t.Error("a negative cost was accepted")
	}
}
