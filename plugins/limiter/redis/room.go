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

// What bounds the keys of a policy whose subjects clients choose.
//
// The script counts the callers that have a live key of their own. While there are too many,
// one without such a key is counted in one of thousands of buckets, which a hash of its
// subject chooses, together with whoever else is in it. When there is room again, its own key begins
// with what its bucket counts. So nobody ever exceeds a limit, a caller with a key of its own
// is counted exactly, and a greedy one is in the way of the few in its bucket.
//
// The hash is salted: clients who know it could fill the bucket of somebody else. All
// nodes must use the same salt, so it is kept in Redis; see [Source.report].

const (
	// defaultSize is how many bytes of Redis the counts of such a policy may take.
	defaultSize = 256 << 20
	minSize     = 32 << 20
	maxSize     = 1 << 40
	// keyBytes is what Redis takes for a key at most, with its value and its expiry, unless
	// names are very long.
	keyBytes = 400
)

// room is what a policy has for callers.
type room struct {
	callers uint32 // that may have a key of their own
	salt    ratelimit.Salt
}

// callersIn is how many callers may have a key of their own, besides all buckets.
func callersIn(size int64) uint32 { return uint32(min(size/keyBytes-ratelimit.SharedBuckets, 1<<31)) }

func checkSize(size int64) error {
	if size < minSize || size > maxSize {
		return fmt.Errorf("limiter redis: size is %d bytes, expected %d (32MiB) to %d (1024GiB)", size, minSize, int64(maxSize))
	}
	return nil
}

// salting is the salt as this node last heard of it.
type salting struct {
	window atomic.Int64  // the longest, in ms, of the policies that need it
	asked  chan struct{} // closed once Redis was asked for it, whether or not it answered

	mu   sync.RWMutex
	have bool
	salt ratelimit.Salt // until it is heard of, the one that this node proposes
}

func newSalting() *salting {
	s := &salting{asked: make(chan struct{})}
	for i := 0; i < len(s.salt); i += 8 { // a seed of maphash is random
		binary.BigEndian.PutUint64(s.salt[i:], maphash.String(maphash.MakeSeed(), "salt"))
	}
	return s
}

// lifetime is how long Redis must remember the salt after the last report: as long as it does
// a bucket.
func (s *salting) lifetime() time.Duration {
	window := time.Duration(s.window.Load()) * time.Millisecond
	return max(2*goneAfter, window+window/ratelimit.Slots+2*reportEvery)
}

// use notes a policy that needs the salt.
func (s *salting) use(p *ratelimit.Policy) {
	window := p.Window.Milliseconds()
	for known := s.window.Load(); known < window && !s.window.CompareAndSwap(known, window); {
		known = s.window.Load()
	}
}

// proposal is what becomes the salt if Redis has none: the last one, if it lost that.
func (s *salting) proposal() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return string(s.salt[:])
}

// note takes what Redis answered, or "" where it did not.
func (s *salting) note(text string) {
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

func (s *salting) get() (ratelimit.Salt, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.salt, s.have
}

// wait is get that waits a while for the first report, but not if ctx is done. After that nobody
// waits, so that an outage costs requests no time.
func (s *salting) wait(ctx context.Context, most time.Duration) (ratelimit.Salt, bool) {
	if known, ok := s.get(); ok {
		return known, true
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-s.asked:
	case <-late.C:
	case <-ctx.Done():
	}
	return s.get()
}

// room is what the policies of a request have, or false while that is not known: then
// callers could be counted in other buckets than at other nodes.
func (s *Source) room(ctx context.Context, r *ratelimit.Request) (room, bool) {
	chosen := false
	for i := range r.Charges {
		if p := r.Charges[i].Policy; p.Chosen {
			chosen = true
			s.salting.use(p)
		}
	}
	own := room{callers: s.callers}
	if !chosen {
		return own, true
	}
	var ok bool
	own.salt, ok = s.salting.wait(ctx, s.patience)
	return own, ok
}
