package ratelimit

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"
)

func TestTableStructureSizes(t *testing.T) {
	if n := unsafe.Sizeof(cell{}); n+4 != cellBytes || n<<cellShift != pageBytes {
		t.Errorf("a cell has %d bytes", n)
	}
	if n := unsafe.Sizeof(block{}); n != blockBytes || n<<blockShift > pageBytes {
		t.Errorf("a block has %d bytes", n)
	}
	if 4<<headShift != pageBytes {
		t.Error("a page of heads has another size")
	}
}

// check finds what is inconsistent in a table.
func (t *table) check() error {
	if t.heads.n != t.cells.n {
		return fmt.Errorf("%d heads for %d cells", t.heads.n, t.cells.n)
	}
	dense, listed, crowd := 0, 0, 0
	for at := link(1); at <= t.cells.n; at++ {
		c := t.cells.element(at)
		if got := t.findCell(c.subject, c.line, c.kind == shared); got != at {
			return fmt.Errorf("cell %d is found as %d", at, got)
		}
		size := cellBytes
		if c.dense {
			dense++
			size += blockBytes
			if t.blocks.element(c.denseBlock()).owner != at {
				return fmt.Errorf("the block of cell %d is another's", at)
			}
		}
		if c.kind == shared {
			crowd += size
		}
	}
	for _, l := range t.lines {
		if l == nil {
			continue
		}
		for k := range l.lists {
			n, before := 0, link(0)
			for at := l.lists[k].first; at != 0; at = t.cells.element(at).next {
				if c := t.cells.element(at); c.prev != before || c.kind != kind(k) {
					return fmt.Errorf("cell %d is in the wrong place of a list", at)
				}
				n, before = n+1, at
			}
			if n != l.lists[k].n || before != l.lists[k].last {
				return fmt.Errorf("a list has %d cells, counted %d", n, l.lists[k].n)
			}
			listed += n
		}
	}
	if dense != int(t.blocks.n) || listed != int(t.cells.n) || crowd != int(t.crowd) {
		return fmt.Errorf("%d dense of %d blocks, %d listed of %d, %d bytes of buckets, counted %d", dense, t.blocks.n, listed, t.cells.n, crowd, t.crowd)
	}
	return nil
}

// alive is a State as far as it matters.
func alive(s State) map[int64]uint32 {
	held := map[int64]uint32{}
	for k := s.oldest; k <= s.newest; k++ {
		if n := s.units[k%ring]; n > 0 {
			held[k] = n
		}
	}
	return held
}

// A table without a cap is a map of States, whatever the units and however many.
func TestTableReturnsStoredStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := newTable(64)
		table.cap = 1 << 40
		policies := []*Policy{{Name: "a", Window: time.Second}, {Name: "a", Window: 3 * time.Second}, {Limiter: "l", Name: "a", Window: time.Second}}
		type key struct{ policy, subject int }
		model := map[key]State{}
		now := rapid.Int64Range(0, 1e12).Draw(t, "now")
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			now += rapid.Int64Range(0, 300).Draw(t, "pause")
			k := key{rapid.IntRange(0, 2).Draw(t, "policy"), rapid.IntRange(0, 20).Draw(t, "subject")}
			p, subject := policies[k.policy], [2]uint64{uint64(k.subject) << 40, uint64(k.subject % 7)} // chains
			line := table.findLine(p)
			if line == noLine {
				line = table.addLine(p)
			}
			want := model[k]
			want.Advance(p.Grain(), now)
			var got State
			if own := table.loadSubject(subject, line, now, &got); own != (want.total > 0) && !own {
				t.Fatal("a State was lost")
			}
			if fmt.Sprint(got.total, alive(got)) != fmt.Sprint(want.total, alive(want)) || got.newest != want.newest || got.total > 0 && got.oldest != want.oldest {
				t.Fatalf("%+v, want %+v", got, want)
			}
			cost := rapid.SampledFrom([]int64{1, 1, 1, 100, 127, 128, 20_000, 1 << 31}).Draw(t, "cost")
			if !want.Fits(math.MaxUint32, cost) {
				continue
			}
			got.Admit(cost)
			want.Admit(cost)
			model[k] = want
			table.storeSubject(subject, line, kind(rapid.IntRange(0, 1).Draw(t, "kind")), &got, now)
			if rapid.IntRange(0, 9).Draw(t, "sweep") == 0 {
				table.sweepCells(now, rapid.IntRange(1, 30).Draw(t, "at most"))
			}
			if err := table.check(); err != nil {
				t.Fatal(err)
			}
		}
		now += 10_000
		table.sweepCells(now, 1000)
		if err := table.check(); err != nil || table.cells.n > 0 || table.blocks.n > 0 {
			t.Fatalf("%d cells, %d blocks when all had expired, %v", table.cells.n, table.blocks.n, err)
		}
		for i, l := range table.lines {
			if l != nil {
				t.Fatalf("line %d is kept", i)
			}
		}
	})
}

// A State that covers another counts at least as much at any time, and no more than the one
// of the two that counts more.
func TestCoveringStateCountsTheLargerOfTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Grain{Window: 6000, Slot: 100}
		draw := func(name string) (s State) {
			now := int64(1e9)
			for range rapid.IntRange(0, 30).Draw(t, name) {
				now += rapid.Int64Range(0, 500).Draw(t, "pause")
				s.Advance(g, now)
				s.Admit(rapid.Int64Range(1, 5).Draw(t, "units"))
			}
			return s
		}
		a, b := draw("a"), draw("b")
		now := 100 * max(a.newest, b.newest, 1e7)
		a.Advance(g, now)
		b.Advance(g, now)
		c := a
		c.coverState(&b)
		for ; now < 1e9+30_000; now += 100 {
			a.Advance(g, now)
			b.Advance(g, now)
			c.Advance(g, now)
			if c.total != max(a.total, b.total) {
				t.Fatalf("at %d: %d, of %d and %d", now, c.total, a.total, b.total)
			}
		}
	})
}

// Nobody exceeds a limit when subjects are evicted and come back all the time.
func TestSubjectsStayWithinTheirLimitUnderEviction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(1_900_000_000, 0)
		m := newMemory(1, rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "buckets"), func() time.Time { return at })
		m.shards[0].cap = rapid.Int64Range(2, 8).Draw(t, "cells") * cellBytes
		policies := []*Policy{
			{Name: "a", Limit: rapid.Int64Range(1, 20).Draw(t, "a"), Window: time.Second},
			{Name: "b", Limit: rapid.Int64Range(1, 20).Draw(t, "b"), Window: 3 * time.Second},
		}
		type key struct{ policy, subject int }
		log := map[key][]time.Time{}
		for range 150 {
			at = at.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "pause")) * time.Millisecond)
			var keys []key
			var charges []Charge
			for i, p := range policies {
				k := key{i, rapid.IntRange(0, 7).Draw(t, "subject")}
				keys, charges = append(keys, k), append(charges, Charge{Policy: p, Subject: fmt.Sprint(k.subject)})
			}
			v, err := m.Decide(t.Context(), Request{Charges: charges})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.shards[0].check(); err != nil {
				t.Fatal(err)
			}
			if !v.Admitted {
				continue
			}
			for i, k := range keys {
				log[k] = append(log[k], at)
				within := int64(0)
				for _, was := range log[k] {
					if at.Sub(was) <= policies[i].Window {
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

func TestTableRowIsReusedAfterItsPolicyEnds(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	m := newMemory(1, 4, func() time.Time { return at })
	m.shards[0].cap = 3 * cellBytes
	for reload := range 20 {
		p := &Policy{Name: fmt.Sprint("p", reload), Limit: 10, Window: time.Minute}
		for i := range 20 {
			if _, err := m.Decide(t.Context(), Request{Charges: []Charge{{Policy: p, Subject: fmt.Sprint(i)}}}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(m.shards[0].lines); n != 1 {
			t.Fatalf("%d lines are held", n)
		}
		at = at.Add(time.Hour)
	}
}
