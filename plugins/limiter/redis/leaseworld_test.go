package redis

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

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
	// divided: all users of a node meet the refusals that it remembers, also of units that were given back since.
	divided bool
	idled   map[string][]leaseUse // what nodes held
}

// leaseUse is what was admitted under a key.
type leaseUse struct{ at, cost int64 }

func newLeaseWorld(t *testing.T, url string, seed uint64) *leaseWorld {
	w := &leaseWorld{
		T: t, Rand: rand.New(rand.NewPCG(seed, 9)), url: url, prefix: fmt.Sprintf("lease-%x:", seed),
		used: make(map[string][]leaseUse), lost: make(map[string]int64),
		idled: make(map[string][]leaseUse),
	}
	w.now.Store(1_900_000_000_000 + w.Int64N(60_000))
	for range 3 {
		w.nodes = append(w.nodes, w.openNode())
	}
	return w
}

func (w *leaseWorld) openNode() *Source {
	now := func() time.Time { return time.UnixMilli(w.now.Load()) }
	return open(w.T, config{settings: settings(w.T, w.url, w.prefix, patient), nodes: 3, now: now, clock: now, denials: maxDenials, leases: 100})
}

// idle returns what nodes hold of a key and have not used, and what was lost.
func (w *leaseWorld) idle(key string) int64 {
	units := w.lost[key]
	for _, s := range w.nodes {
		units += idleAt(s, key)
	}
	return units
}

// idleAt returns what one node holds of a key and has not used.
func idleAt(s *Source, key string) (units int64) {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
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

// encodeCharges encodes each charge for the place where it is counted.
func encodeCharges(s *Source, charges []ratelimit.Charge) (encoded []encodedCharge) {
	for i := range charges {
		r := &ratelimit.Request{Charges: charges[i : i+1]}
		encoded = append(encoded, encodeRequest(s.pipelineOf(r, new(keyBudget)).head, r, keyBudget{}).charges...)
	}
	return encoded
}

// ask decides on a request at a node and holds the verdict against the promises.
func (w *leaseWorld) ask(s *Source, cost int64, charges ...ratelimit.Charge) {
	w.Helper()
	encoded, idle := encodeCharges(s, charges), make([]int64, len(charges))
	for i := range encoded {
		idle[i] = w.idle(encoded[i].key)
		w.idled[encoded[i].key] = append(w.idled[encoded[i].key], leaseUse{w.now.Load(), idle[i]})
	}
	v := decide(w.T, s, cost, charges...)
	now := w.now.Load()
	if w.idle(encoded[0].key) < idle[0] {
		w.local++
	}
	for i := range encoded {
		c, result := &encoded[i], v.Results[i]
		if held := idleAt(s, c.key); held > c.limit/leasePart {
			w.Fatalf("%s: a node holds %d of %d", c.key, held, c.limit)
		}
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
			for _, u := range w.idled[c.key] {
				if w.divided && now-u.at < maxDenial.Milliseconds() {
					idle[i] = max(idle[i], u.cost)
				}
			}
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
	for i, k := range encodeCharges(w.nodes[0], charges) {
		c, counted, slot, now := charges[i], int64(0), k.slotLength(), w.now.Load()
		for _, u := range w.used[k.key] {
			if (u.at/slot+1)*slot+k.window > now {
				counted += u.cost
			}
		}
		v := decide(w.T, w.nodes[0], c.Policy.Limit+1, c) // refused: it takes nothing
		if left := v.Results[0].Remaining; left != c.Policy.Limit-counted {
			w.Errorf("%s: %d remain, want %d", k.key, left, c.Policy.Limit-counted)
		}
	}
}
