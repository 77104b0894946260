package ratelimit

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/bits"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultSize is how many bytes a [Memory] takes for counts, but at most a quarter of the
	// memory limit of the Go runtime. MinSize and MaxSize bound a configured size.
	DefaultSize = 256 << 20
	MinSize     = 2 << 20
	MaxSize     = 1 << 40

	shardBits = 5
	shards    = 1 << shardBits // each has a bit in a set of shards
)

// MemoryConfig configures a [Memory].
type MemoryConfig struct {
	// Size is how many bytes the counts may take, from [MinSize] to [MaxSize]; 0 means
	// [DefaultSize]. A subject takes 68 bytes if it sent requests in up to 14 slots of
	// a window, and 316 at most; an eighth of the size is for remembering who was evicted.
	Size int64
	// Now is the clock; nil means time.Now. Elapsed time is measured by its monotonic reading,
	// if it has one, so that steps of the wall clock change nothing.
	Now func() time.Time
}

// Memory is the [Source] that counts in this process. It is safe for concurrent use.
//
// A subject takes memory from its first admission until its units no longer count. When the
// memory is full, the subjects that are idle for longest lose their own counts and share
// those of a bucket, see [table.evictSome]: they may then be refused too early, but nobody exceeds
// a limit. [Result].Shared and [Stats] report it.
type Memory struct {
	now    func() time.Time
	start  time.Time
	epoch  int64 // start in milliseconds
	seeds  [2]maphash.Seed
	shards []shard
	shared atomic.Uint64
	size   atomic.Int64
}

// shard is a part of the subjects under one lock.
type shard struct {
	mu sync.Mutex
	table
}

// Stats reports what a [Memory] holds and did.
type Stats struct {
	Keys   int    // subjects with counts of their own, for each policy
	Bytes  int64  // that are allocated for counts
	Size   int64  // that may be
	Folded uint64 // subjects that lost their own counts since the start
	Shared uint64 // charges that were decided by the counts of a bucket
}

// NewMemory returns an empty Memory.
func NewMemory(c MemoryConfig) (*Memory, error) {
	size, err := checkSize(c.Size)
	if err != nil {
		return nil, err
	}
	m := newMemory(shards, bucketsMost/shards, c.Now)
	m.setSize(size)
	return m, nil
}

func newMemory(shards, buckets int, now func() time.Time) *Memory {
	if now == nil {
		now = time.Now
	}
	m := &Memory{
		now: now, start: now(), shards: make([]shard, shards),
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	m.epoch = m.start.UnixMilli()
	for i := range m.shards {
		m.shards[i].table = newTable(buckets)
	}
	return m
}

// checkSize checks a size, or returns the default for 0.
func checkSize(size int64) (int64, error) {
	if size == 0 {
		return max(MinSize, min(DefaultSize, debug.SetMemoryLimit(-1)/4)), nil
	}
	if size < MinSize || size > MaxSize {
		return 0, fmt.Errorf("ratelimit: a size of %d bytes for counts, expected %d (2MiB) to %d (1TiB)", size, MinSize, int64(MaxSize))
	}
	return size, nil
}

// Resize changes the size, as in [MemoryConfig]. If it is smaller, subjects are evicted as if new
// ones had come.
func (m *Memory) Resize(size int64) error {
	size, err := checkSize(size)
	if err != nil {
		return err
	}
	m.setSize(size)
	return nil
}

func (m *Memory) setSize(size int64) {
	m.size.Store(size)
	each := size / int64(len(m.shards))
	each -= 3*pageSlack + each/64 // for pages that are not full, and for tables of pages
	for i := range m.shards {
		m.shards[i].setCapacity(each, m.nowMillis)
	}
}

// setCapacity unlocks the shard now and then, because evicting takes time.
func (s *shard) setCapacity(cap int64, now func() int64) {
	for more := true; more; {
		s.mu.Lock()
		s.cap = cap - cap/evictedShare*2
		s.evicted.resize(cap / evictedShare)
		for range 256 {
			if more = s.usedBytes() > s.cap && s.evictSome(now()); !more {
				break
			}
		}
		s.mu.Unlock()
	}
}

// ref is where a charge of a request is counted.
type ref struct {
	shard   *shard
	subject [2]uint64
	line    uint32
	own     bool // the subject has a State of its own
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
		states  [MaxCharges]State
		n       = len(r.Charges)
		touched uint64
	)
	for i := range n {
		subject := m.hashSubject(r.Charges[i].Subject)
		// Chosen by the subject alone: several policies for one caller take one lock.
		at := subject[0] % uint64(len(m.shards))
		refs[i].shard, refs[i].subject = &m.shards[at], subject
		touched |= 1 << at
	}
	m.lockShards(touched)
	at := m.now() // under the locks, so that units are stored in the order of their admission
	now := m.toMillis(at)
	m.sweepShards(touched, now)
	for i := range n {
		refs[i].loadState(r.Charges[i].Policy, now, &states[i])
	}

	admitted := allFit(r.Charges, states[:n], cost)
	results := r.Results[:0]
	for i := range n {
		p, s := r.Charges[i].Policy, &states[i]
		shared := !refs[i].own && s.total > 0
		if shared {
			m.shared.Add(1)
		}
		fit := s.Fits(p.Limit, cost)
		if admitted && fit {
			s.Admit(cost)
			refs[i].storeState(p, now, s)
		}
		res := policyResult(p, s, cost, !fit, now, at)
		res.Shared = shared
		results = append(results, res)
	}
	m.unlockShards(touched)
	return Verdict{Admitted: admitted, At: at, Results: results}, nil
}

// hashSubject returns a keyed hash that differs between processes, so that nobody can choose
// subjects that collide.
func (m *Memory) hashSubject(subject string) [2]uint64 {
	return [2]uint64{maphash.String(m.seeds[0], subject), maphash.String(m.seeds[1], subject)}
}

func (r *ref) loadState(p *Policy, now int64, into *State) {
	if r.line = r.shard.findLine(p); r.line == noLine {
		into.Advance(p.Grain(), now)
		return
	}
	r.own = r.shard.loadSubject(r.subject, r.line, now, into)
}

func (r *ref) storeState(p *Policy, now int64, s *State) {
	if r.line == noLine {
		r.line = r.shard.addLine(p)
	}
	k := light
	if s.total > p.Limit/2 {
		k = heavy
	}
	r.shard.storeSubject(r.subject, r.line, k, s, now)
}

// nowMillis returns the time of the counts, which goes by the monotonic clock.
func (m *Memory) nowMillis() int64 { return m.toMillis(m.now()) }

func (m *Memory) toMillis(at time.Time) int64 { return max(0, m.epoch+at.Sub(m.start).Milliseconds()) }

// Stats is for metrics; it locks every shard in turn.
func (m *Memory) Stats() Stats {
	s := Stats{Size: m.size.Load(), Shared: m.shared.Load()}
	for i := range m.shards {
		sh := &m.shards[i]
		sh.mu.Lock()
		s.Keys += sh.keyCount()
		s.Bytes += sh.allocatedBytes()
		s.Folded += sh.folded
		sh.mu.Unlock()
	}
	return s
}

// lockShards acquires the locks in their order, so that no two requests wait for each other.
func (m *Memory) lockShards(touched uint64) {
	for set := touched; set != 0; set &= set - 1 {
		m.shards[bits.TrailingZeros64(set)].mu.Lock()
	}
}

func (m *Memory) unlockShards(touched uint64) {
	for set := touched; set != 0; set &= set - 1 {
		m.shards[bits.TrailingZeros64(set)].mu.Unlock()
	}
}

// sweepShards removes expired cells. Each request may free more than it can add. The request's own
// cells may be among them, so it looks them up afterwards.
func (m *Memory) sweepShards(touched uint64, now int64) {
	for set := touched; set != 0; set &= set - 1 {
		m.shards[bits.TrailingZeros64(set)].sweepCells(now, MaxCharges+1)
	}
}
