package ratelimit

import (
	"context"
	"errors"
	"hash/maphash"
	"math/bits"
	"time"
)

// DefaultKeys is how many keys a [Memory] holds unless told otherwise, at about half a
// kilobyte each.
const DefaultKeys = 1_000_000

const (
	maxShards   = 64   // one bit each in a set of shards
	shardAtBest = 1024 // below so many keys for each, chance would fill one shard long before the others
)

// MemoryConfig configures a [Memory].
type MemoryConfig struct {
	// Keys is how many keys are held at most; 0 means [DefaultKeys].
	Keys int
	// Now is the clock; nil means time.Now. Elapsed time is taken from its monotonic reading
	// if it has one, so steps of the wall clock change nothing.
	Now func() time.Time
}

// Memory is the [Source] that counts in this process. It is safe for concurrent use.
//
// A subject it does not know costs memory only once it is admitted. At the cap a new
// subject takes the place of an expired one; if there is none, all new subjects of a policy are
// counted in one bucket, which [Result].Shared and [Stats] tell. When one of them is given a key of its
// own later on, what the bucket holds by then counts against it: too strict for a window, never too lax.
type Memory struct {
	now    func() time.Time
	start  time.Time
	epoch  int64 // start in milliseconds
	seed   maphash.Seed
	shards []shard
	common common
}

// Stats are what a [Memory] holds and did.
type Stats struct {
	Keys   int
	Cap    int
	Shared uint64 // charges decided in a shared bucket since the start
}

// NewMemory makes an empty Memory.
func NewMemory(c MemoryConfig) (*Memory, error) {
	if c.Keys < 0 {
		return nil, errors.New("ratelimit: the number of keys is negative")
	}
	if c.Keys == 0 {
		c.Keys = DefaultKeys
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	n := 1
	for n < maxShards && c.Keys/(2*n) >= shardAtBest {
		n *= 2
	}
	m := &Memory{now: c.Now, start: c.Now(), seed: maphash.MakeSeed(), shards: make([]shard, n)}
	m.epoch = m.start.UnixMilli()
	for i := range m.shards {
		m.shards[i].init(c.Keys / n)
	}
	m.common.buckets = make(map[bucketKey]*State)
	return m, nil
}

// Decide implements [Source]. It does not block on anything but other decisions, and
// fails only with [ErrRequest].
func (m *Memory) Decide(_ context.Context, r Request) (Verdict, error) {
	if err := r.Check(); err != nil {
		return Verdict{}, err
	}
	var (
		cost    = max(r.Cost, 1)
		refs    [MaxCharges]ref
		states  [MaxCharges]*State
		n       = len(r.Charges)
		touched uint64
	)
	for i := range n {
		c := &r.Charges[i]
		refs[i].key = key{limiter: c.Policy.Limiter, policy: c.Policy.Name, window: c.Policy.Window, subject: Subject(c.Subject)}
		// By the subject alone: several policies for one caller take one lock.
		at := maphash.String(m.seed, refs[i].key.subject) % uint64(len(m.shards))
		refs[i].shard = &m.shards[at]
		touched |= 1 << at
	}
	m.lock(touched)
	at := m.now() // only now, so that units are booked in the order in which they are admitted
	now := max(0, m.epoch+at.Sub(m.start).Milliseconds())
	m.sweep(touched, now)
	common := m.find(refs[:n], states[:n], now)

	admitted := admits(r.Charges, states[:n], cost)
	results := r.Results[:0]
	for i := range n {
		p := r.Charges[i].Policy
		fit := fits(p, states[i], cost)
		if admitted && fit {
			states[i] = m.book(&refs[i], states[i], cost, now)
		}
		res := result(p, states[i], cost, !fit, now, at)
		res.Shared = refs[i].shared()
		results = append(results, res)
	}
	if common {
		m.common.release()
	}
	m.unlock(touched)
	return Verdict{Admitted: admitted, At: at, Results: results}, nil
}

// Stats is for metrics; it looks at every shard.
func (m *Memory) Stats() Stats {
	s := Stats{Shared: m.common.used.Load()}
	for i := range m.shards {
		sh := &m.shards[i]
		sh.mu.Lock()
		s.Keys += len(sh.entries)
		s.Cap += sh.cap
		sh.mu.Unlock()
	}
	return s
}

// find points states at what is known of each charge; nil is nothing. It tells whether
// the common buckets had to be locked.
func (m *Memory) find(refs []ref, states []*State, now int64) (common bool) {
	for i := range refs {
		r := &refs[i]
		if r.entry = r.shard.entries[r.key]; r.entry != nil {
			r.entry.Advance(r.entry.line.grain, now)
			states[i] = &r.entry.State
			continue
		}
		r.room = r.shard.promise()
		if !common && (!r.room || m.common.active.Load() > 0) {
			m.common.acquire(now)
			common = true
		}
		if common {
			states[i] = m.common.buckets[r.key.bucket()]
		}
		if r.shared() {
			m.common.used.Add(1)
		}
	}
	return common
}

// book adds the cost where the charge is counted, and makes that place if need be.
func (m *Memory) book(r *ref, s *State, cost, now int64) *State {
	if r.shared() {
		if s == nil {
			s = m.common.open(r.key.bucket(), now)
		}
		s.Admit(cost)
		return s
	}
	if r.entry == nil {
		r.entry = r.shard.add(r.key, s)
		r.entry.Advance(r.entry.line.grain, now)
	}
	r.entry.Admit(cost)
	r.entry.touch()
	return &r.entry.State
}

// lock takes the locks in their order, so that no two requests wait for each other.
func (m *Memory) lock(touched uint64) {
	for set := touched; set != 0; set &= set - 1 {
		m.shards[bits.TrailingZeros64(set)].mu.Lock()
	}
}

func (m *Memory) unlock(touched uint64) {
	for set := touched; set != 0; set &= set - 1 {
		sh := &m.shards[bits.TrailingZeros64(set)]
		sh.promised = 0
		sh.mu.Unlock()
	}
}

// sweep comes before the request's own entries are looked up, because it may
// remove them. Each request frees more than it can add.
func (m *Memory) sweep(touched uint64, now int64) {
	for set := touched; set != 0; set &= set - 1 {
		m.shards[bits.TrailingZeros64(set)].sweep(now, MaxCharges+1)
	}
}
