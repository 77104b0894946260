package ratelimit

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Whoever was evicted is remembered for at least the window of its policy and two slots, whatever
// else is evicted and however the size changes. Two windows later nobody is.
func TestEvictedSubjectsAreRememberedForTheirWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	table := newTable(4)
	short := table.addLine(&Policy{Name: "short", Window: 6 * time.Second})
	long := table.addLine(&Policy{Name: "long", Window: 60 * time.Second})
	type eviction struct {
		subject [2]uint64
		line    uint32
		until   int64
	}
	var all []eviction
	e := &table.evicted
	e.resize(1 << 12)
	now := int64(1e12)
	for step := range 2000 {
		now += random.Int64N(200)
		line := []uint32{short, long}[random.IntN(2)]
		g := table.lines[line].grain
		at := eviction{[2]uint64{random.Uint64(), random.Uint64()}, line, now + g.Window + g.Slot}
		e.add(&table, at.subject, line, now)
		table.lines[line].lists[shared].n = 1 // as its bucket counts
		all = append(all, at)
		if step%500 == 499 {
			e.resize(int64(1<<10 + step))
		}
		for _, old := range all {
			if old.until >= now && !e.mayHold(&table, old.subject, old.line, now) {
				t.Fatalf("step %d: a subject was forgotten %d ms too early", step, old.until-now)
			}
		}
	}
	now += 3 * 61_000
	for _, old := range all {
		if e.mayHold(&table, old.subject, old.line, now) {
			t.Fatal("a subject is remembered when nobody is to be")
		}
	}
	if e.allocatedBytes() > 2*e.size {
		t.Errorf("%d bytes for two sets of %d", e.allocatedBytes(), e.size)
	}
}

// With ten subjects in the room of one key few others are taken for evicted.
func TestFewStrangersAreMistakenForEvicted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	table := newTable(4)
	line := table.addLine(&Policy{Name: "p", Window: time.Minute})
	const size = 1 << 20
	table.evicted.resize(size / evictedShare)
	for range 10 * size / cellBytes {
		table.evicted.add(&table, [2]uint64{random.Uint64(), random.Uint64()}, line, 1)
	}
	mistaken := 0
	const strangers = 10_000
	for range strangers {
		if table.evicted.mayHold(&table, [2]uint64{random.Uint64(), random.Uint64()}, line, 1) {
			mistaken++
		}
	}
	t.Logf("%d of %d", mistaken, strangers)
	if mistaken > strangers/4 {
		t.Errorf("%d of %d strangers are taken for evicted", mistaken, strangers)
	}
}
