package ratelimit

import (
	"hash/maphash"
	"math"
	"time"

	"golang.org/x/time/rate"
)

// key identifies a bucket of a [Fallback].
type key struct {
	limiter string
	policy  string
	window  time.Duration
	subject string // of its own bucket
	number  uint64 // of a shared bucket
}

// sharedBuckets is how many buckets a policy has for the subjects for which there is no room.
const sharedBuckets = 1 << 12

// shared returns the key of the shared bucket of a subject, chosen by a hash.
func (k key) shared(seed maphash.Seed) key {
	k.subject, k.number = "", maphash.String(seed, k.subject)%sharedBuckets
	return k
}

// bucket is a token bucket of a [Fallback].
type bucket struct {
	quota   quota
	limiter *rate.Limiter
	shared  bool // by the subjects for which there is no room
	kept    bool // in a map
}

// newBucket returns a full bucket.
func newBucket(q quota) *bucket {
	return &bucket{quota: q, limiter: rate.NewLimiter(q.rate, q.burst)}
}

// setQuota changes the quota and keeps what was taken.
func (b *bucket) setQuota(q quota, now time.Time) {
	if b.quota != q {
		b.limiter.SetLimitAt(now, q.rate)
		b.limiter.SetBurstAt(now, q.burst)
		b.quota = q
	}
}

// lowerTo removes the tokens beyond a number.
func (b *bucket) lowerTo(to float64, now time.Time) {
	if over := b.limiter.TokensAt(now) - max(0, to); over > 0 {
		b.limiter.ReserveN(now, min(int(math.Ceil(over)), b.quota.burst))
	}
}

func (b *bucket) hasRoomFor(cost int64, now time.Time) bool {
	return cost <= int64(b.quota.burst) && b.limiter.TokensAt(now) >= float64(cost)
}

// result reports the state of the bucket, not the counts that are out of reach; but the limit
// is the one that is in force.
func (b *bucket) result(p *Policy, cost int64, violated bool, now time.Time) Result {
	tokens := b.limiter.TokensAt(now)
	r := Result{Policy: p, Limit: p.Limit, Remaining: max(0, int64(tokens)), Violated: violated, Reset: now, Shared: b.shared}
	if r.Remaining < int64(b.quota.burst) {
		r.Reset = now.Add(b.refillTime(float64(r.Remaining+1) - tokens))
	}
	switch {
	case !violated:
	case cost > p.Limit:
		r.Retry = Never
	case cost > int64(b.quota.burst): // it fits when the outage ends, whenever that is
		r.Retry = min(p.Window, comeAgain)
		r.Reset = now.Add(r.Retry)
	default:
		r.Retry = b.refillTime(float64(cost) - tokens)
		r.Reset = now.Add(r.Retry)
	}
	return r
}

// refillTime returns how long it takes for so many tokens to come in, and a little more.
func (b *bucket) refillTime(tokens float64) time.Duration {
	return time.Duration(tokens/float64(b.quota.rate)*float64(time.Second)) + time.Millisecond
}
