package ratelimit

import (
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// DefaultSubjects is how many subjects a [Fallback] counts apart unless told otherwise, at
// about 400 bytes each.
const DefaultSubjects = 100_000

const (
	// comeAgain bounds the Retry-After of a request that is too large during an outage.
	comeAgain = 30 * time.Second
	// swept is how many buckets are examined when a new one finds no room.
	swept = 16
)

// FallbackConfig configures a [Fallback].
type FallbackConfig struct {
	// Nodes returns how many processes share the limits; less than 1 is 1. Required. It MUST NOT block.
	Nodes func() int
	// Subjects is how many are counted apart at most; 0 means [DefaultSubjects].
	Subjects int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Fallback decides while the counts are out of reach, as each request's OnOutage says. For
// [OutageLocal] each of N nodes has token buckets of L/2N that fill within the window: in no
// window do they admit more than L/N, so all nodes together stay within L, or within twice that
// in a window that began before the outage. Buckets outlive an outage: many short ones admit no
// more than a long one, and a late reply never rejects a caller within its share. (Where L/2N is
// less than one, but L/N is not, a bucket holds one. Where L/N is less than one, nothing
// passes.) It is safe for concurrent use.
type Fallback struct {
	now   func() time.Time
	nodes func() int
	cap   int
	seed  maphash.Seed

	mu      sync.Mutex
	buckets map[key]*bucket
	shared  map[key]*bucket // of subjects for which there was no room
}

// NewFallback returns a Fallback that has seen no outage.
func NewFallback(c FallbackConfig) (*Fallback, error) {
	if c.Nodes == nil || c.Subjects < 0 {
		return nil, errors.New("ratelimit: a fallback needs the number of nodes, and no negative number of subjects")
	}
	if c.Subjects == 0 {
		c.Subjects = DefaultSubjects
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Fallback{
		now: c.Now, nodes: c.Nodes, cap: c.Subjects, seed: maphash.MakeSeed(),
		buckets: make(map[key]*bucket), shared: make(map[key]*bucket),
	}, nil
}

// Decide decides without the counts. It fails only with [ErrRequest] and [ErrUnavailable].
func (f *Fallback) Decide(r Request) (Verdict, error) {
	if err := r.Check(); err != nil {
		return Verdict{}, err
	}
	switch r.OnOutage {
	case OutageOpen:
		return Verdict{Admitted: true, At: f.now(), Outage: true}, nil
	case OutageLocal:
		return f.decideLocally(r), nil
	}
	return Verdict{}, ErrUnavailable
}

func (f *Fallback) decideLocally(r Request) Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, nodes, cost := f.now(), max(1, f.nodes()), max(r.Cost, 1)
	v := Verdict{Admitted: true, At: now, Outage: true, Results: r.Results[:0]}
	var at [MaxCharges]*bucket
	for i := range r.Charges {
		c := &r.Charges[i]
		at[i] = f.findBucket(c, quotaOf(c.Policy, nodes), now)
		fit := at[i].hasRoomFor(cost, now)
		v.Admitted = v.Admitted && (fit || c.Policy.DryRun)
	}
	for i := range r.Charges {
		p, b := r.Charges[i].Policy, at[i]
		fit := b.hasRoomFor(cost, now)
		if v.Admitted && fit {
			b.limiter.AllowN(now, int(cost))
			f.keepBucket(&r.Charges[i], b)
		}
		v.Results = append(v.Results, b.result(p, cost, !fit, now))
	}
	return v
}

// findBucket returns the bucket of a charge. A subject without one has a full one, unless
// it may have been counted in a shared one.
func (f *Fallback) findBucket(c *Charge, q quota, now time.Time) *bucket {
	k := chargeKey(c)
	b := f.buckets[k]
	if b == nil && !f.makeRoom(now) {
		if b = f.shared[k.shared(f.seed)]; b == nil {
			b = newBucket(q)
		}
		b.shared = true
	}
	if b == nil {
		b = newBucket(q)
		if s := f.shared[k.shared(f.seed)]; s != nil {
			b.lowerTo(s.limiter.TokensAt(now), now)
		}
	}
	b.setQuota(q, now)
	return b
}

// keepBucket remembers a bucket from which something was taken.
func (f *Fallback) keepBucket(c *Charge, b *bucket) {
	if b.kept {
		return
	}
	b.kept = true
	k := chargeKey(c)
	// The key must not keep the configuration and the request alive.
	k.limiter, k.policy, k.subject = strings.Clone(k.limiter), strings.Clone(k.policy), strings.Clone(k.subject)
	if b.shared {
		f.shared[k.shared(f.seed)] = b
	} else {
		f.buckets[k] = b
	}
}

// makeRoom reports whether there is room for the bucket of another subject. It may remove full
// buckets.
func (f *Fallback) makeRoom(now time.Time) bool {
	if len(f.buckets)+MaxCharges <= f.cap {
		return true
	}
	dropFull(f.buckets, now)
	dropFull(f.shared, now)
	return len(f.buckets)+MaxCharges <= f.cap
}

// dropFull examines some of the buckets and removes those that are full.
func dropFull(buckets map[key]*bucket, now time.Time) {
	examined := 0
	for k, b := range buckets {
		if examined++; examined > swept {
			break
		}
		if b.limiter.TokensAt(now) >= float64(b.quota.burst) {
			b.kept = false // it may be one of the request's own
			delete(buckets, k)
		}
	}
}

func chargeKey(c *Charge) key {
	return key{limiter: c.Policy.Limiter, policy: c.Policy.Name, window: c.Policy.Window, subject: Subject(c.Subject)}
}

// quota is one node's share of a limit.
type quota struct {
	burst int
	rate  rate.Limit // per second
}

func quotaOf(p *Policy, nodes int) quota {
	half := float64(p.Limit) / float64(2*nodes)
	q := quota{burst: int(half), rate: rate.Limit(half / p.Window.Seconds())}
	switch {
	case int64(nodes) > p.Limit:
		q = quota{}
	case q.burst < 1:
		q.burst = 1 // and half a unit at most comes in within a window
	}
	return q
}
