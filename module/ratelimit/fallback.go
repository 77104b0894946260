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
	// comeAgain bounds what a client is told to wait whose request is too large for an outage.
	comeAgain = 30 * time.Second
	// swept is how many buckets are looked at for each that finds no room.
	swept = 16
)

// FallbackConfig configures a [Fallback].
type FallbackConfig struct {
	// Nodes says how many processes share the limits; less than 1 is 1. Required. It MUST NOT block.
	Nodes func() int
	// Subjects is how many are counted apart at most; 0 means [DefaultSubjects].
	Subjects int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Fallback decides while the counts are out of reach, as the requests want it. For those
// that want [OutageLocal] each of N nodes has token buckets of L/2N that fill within the
// window: in no window do they admit more than L/N, so the nodes together stay within L, and
// within twice that where the counts had a part. Buckets outlive an outage: many short ones
// give no more than a long one, and one late answer refuses nobody who was within his part. (Where L/2N is
// less than one, but L/N is not, a bucket holds one. Where L/N is less than one, nothing passes.) It is safe for concurrent use.
type Fallback struct {
	now   func() time.Time
	nodes func() int
	cap   int
	seed  maphash.Seed

	mu      sync.Mutex
	buckets map[key]*bucket
	shared  map[bucketKey]*bucket // of subjects for which there was no room
}

// NewFallback makes a Fallback that has seen no outage.
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
		buckets: make(map[key]*bucket), shared: make(map[bucketKey]*bucket),
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

// findBucket finds where a charge is counted. A subject without a bucket has a full one, unless
// it may have been counted with others.
func (f *Fallback) findBucket(c *Charge, q quota, now time.Time) *bucket {
	k := chargeKey(c)
	b := f.buckets[k]
	if b == nil && !f.makeRoom(now) {
		if b = f.shared[k.bucketKey(f.seed)]; b == nil {
			b = newBucket(q)
		}
		b.shared = true
	}
	if b == nil {
		b = newBucket(q)
		if s := f.shared[k.bucketKey(f.seed)]; s != nil {
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
	// What the configuration and the request hold must not be kept alive by the key.
	k.limiter, k.policy, k.subject = strings.Clone(k.limiter), strings.Clone(k.policy), strings.Clone(k.subject)
	if b.shared {
		f.shared[k.bucketKey(f.seed)] = b
	} else {
		f.buckets[k] = b
	}
}

// makeRoom reports whether another subject can have a bucket, for which it removes some that
// are as good as new.
func (f *Fallback) makeRoom(now time.Time) bool {
	if len(f.buckets)+MaxCharges <= f.cap {
		return true
	}
	dropFull(f.buckets, now)
	dropFull(f.shared, now)
	return len(f.buckets)+MaxCharges <= f.cap
}

// dropFull looks at some of the buckets and removes those that are as good as new.
func dropFull[K comparable](buckets map[K]*bucket, now time.Time) {
	looked := 0
	for k, b := range buckets {
		if looked++; looked > swept {
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

// quota is one node's part of a limit.
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
