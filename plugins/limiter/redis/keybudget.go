package redis

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// How many keys a policy may have whose subjects clients choose:
//
// The script counts the callers that have a live key of their own. While there are too many,
// a caller without a key is counted in one of thousands of buckets, which a hash of its
// subject chooses, together with the others in it. When there is room again, its own key
// starts with the count of its bucket. So no caller ever exceeds a limit, a caller with a key
// of its own is counted exactly, and a greedy one affects only the few in its bucket.
//
// The hash is salted: clients who knew it could fill somebody else's bucket. All nodes must
// use the same salt, so it is kept in Redis; see [Source.reportNode].

const (
	// defaultSize is how many bytes of Redis the counts of such a policy may take.
	defaultSize = 256 << 20
	minSize     = 32 << 20
	maxSize     = 1 << 40
	// keyBytes is the most that Redis needs for a key with its value and its expiry, unless
	// names are very long.
	keyBytes = 400
)

// keyBudget bounds the keys of a policy whose subjects clients choose.
type keyBudget struct {
	callers uint32 // that may have a key of their own
	salt    ratelimit.Salt
}

// callersIn returns how many callers may have a key of their own, besides all buckets.
func callersIn(size int64) uint32 { return uint32(min(size/keyBytes-ratelimit.SharedBuckets, 1<<31)) }

func checkSize(size int64) error {
	if size < minSize || size > maxSize {
		return fmt.Errorf("limiter redis: size is %d bytes, expected %d (32MiB) to %d (1024GiB)", size, minSize, int64(maxSize))
	}
	return nil
}

// saltState is the salt as Redis last reported it.
type saltState struct {
	window atomic.Int64  // the longest, in ms, of the policies that need it
	asked  chan struct{} // closed once Redis was asked for it, whether or not it answered

	mu   sync.RWMutex
	have bool           // Redis has answered
	salt ratelimit.Salt // the proposal of this node until Redis has answered
}

func newSaltState() *saltState {
	s := &saltState{asked: make(chan struct{})}
	for i := 0; i < len(s.salt); i += 8 { // a seed of maphash is random
		binary.BigEndian.PutUint64(s.salt[i:], maphash.String(maphash.MakeSeed(), "salt"))
	}
	return s
}

// lifetime is how long Redis must keep the salt after the last report: as long as a bucket.
func (s *saltState) lifetime() time.Duration {
	window := time.Duration(s.window.Load()) * time.Millisecond
	return max(2*nodeExpiry, window+window/ratelimit.Slots+2*reportEvery)
}

// noteWindow records the window of a policy that needs the salt.
func (s *saltState) noteWindow(p *ratelimit.Policy) {
	window := p.Window.Milliseconds()
	for known := s.window.Load(); known < window && !s.window.CompareAndSwap(known, window); {
		known = s.window.Load()
	}
}

// proposedSalt becomes the salt if Redis has none. It is the last one, if Redis lost that.
func (s *saltState) proposedSalt() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return string(s.salt[:])
}

// setReported records the salt that Redis answered with, or that it did not answer ("").
func (s *saltState) setReported(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(text) == len(s.salt) {
		s.have = true
		copy(s.salt[:], text)
	}
	select {
	case <-s.asked:
	default:
		close(s.asked)
	}
}

func (s *saltState) current() (ratelimit.Salt, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.salt, s.have
}

// awaitSalt returns the salt. It waits a while for the first report, unless ctx is done. After
// that report nobody waits, so that an outage costs requests no time.
func (s *saltState) awaitSalt(ctx context.Context, most time.Duration) (ratelimit.Salt, bool) {
	if known, ok := s.current(); ok {
		return known, true
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-s.asked:
	case <-late.C:
	case <-ctx.Done():
	}
	return s.current()
}

// keyBudget returns the budget for the policies of a request. It returns false while the salt
// is unknown: other nodes might count the callers in other buckets.
func (s *Source) keyBudget(ctx context.Context, r *ratelimit.Request) (keyBudget, bool) {
	chosen := false
	for i := range r.Charges {
		if p := r.Charges[i].Policy; p.Chosen {
			chosen = true
			s.salt.noteWindow(p)
		}
	}
	budget := keyBudget{callers: s.callers}
	if !chosen {
		return budget, true
	}
	var ok bool
	budget.salt, ok = s.salt.awaitSalt(ctx, s.conn.maxWait)
	return budget, ok
}
