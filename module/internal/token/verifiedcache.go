package token

import (
	"crypto/sha256"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/maypok86/otter/v2"
)

const (
	// defaultCache is how many bytes a verifier takes for tokens that it verified, but at most a sixteenth of the
	// memory limit of the Go runtime. MinCache and MaxCache bound a configured size.
	defaultCache = 64 << 20
	MinCache     = 2 << 20
	MaxCache     = 1 << 40

	// maxBad bounds what is remembered of forged and malformed tokens. It is apart from the cache of good ones, so
	// that a flood cannot push those out. Each takes badBytes.
	maxBad   = 10_000
	badBytes = 128
	// entryBytes is what a good token takes besides its own texts: the entry of the cache, the content, and the shares
	// of hash table and frequency sketch at their largest.
	entryBytes = 320
)

// sum is a SHA-256, cut to what makes an entry fit its size class: nobody finds two tokens with the same 192 bits.
type sum [24]byte

// verifiedCache remembers tokens by their hash: a copy of this memory holds none.
type verifiedCache struct {
	good   *otter.Cache[sum, *verified]
	bad    *otter.Cache[sum, error] // only refusals that can never change
	shared sharedTexts
	size   atomic.Int64    // in bytes
	hits   [16]paddedCount // by hash, so that processors seldom share one
	misses atomic.Uint64
}

// paddedCount has a cache line of its own.
type paddedCount struct {
	atomic.Uint64
	_ [56]byte
}

func newVerifiedCache(size int64) (c *verifiedCache, err error) {
	c = new(verifiedCache)
	c.good, err = otter.New(&otter.Options[sum, *verified]{
		MaximumWeight: 1, // resize follows
		Weigher:       func(_ sum, t *verified) uint32 { return t.bytes },
	})
	if err != nil {
		return nil, fmt.Errorf("token: the cache of verified tokens: %w", err)
	}
	c.bad, err = otter.New(&otter.Options[sum, error]{MaximumSize: 1})
	if err != nil {
		return nil, fmt.Errorf("token: the cache of refused tokens: %w", err)
	}
	c.resize(size)
	return c, nil
}

// resize applies another size in bytes, 0 for the default. What fits stays.
func (c *verifiedCache) resize(size int64) {
	if size == 0 {
		size = max(MinCache, min(defaultCache, debug.SetMemoryLimit(-1)/16))
	}
	c.size.Store(size)
	bad := min(maxBad, size/16/badBytes)
	c.bad.SetMaximum(uint64(bad))
	c.good.SetMaximum(uint64(size - bad*badBytes - int64(sharedBytes)))
}

// CacheStats says what a verifier remembers.
type CacheStats struct {
	Tokens       int    // good ones
	Bytes, Size  int64  // what they take, and what they may take with all else
	Hits, Misses uint64 // tokens that were remembered, and those that had to be verified
}

func (c *verifiedCache) stats() CacheStats {
	s := CacheStats{
		Tokens: c.good.EstimatedSize(), Bytes: int64(c.good.WeightedSize()), Size: c.size.Load(), Misses: c.misses.Load(),
	}
	for i := range c.hits {
		s.Hits += c.hits[i].Load()
	}
	return s
}

// remember makes an entry of a token that is genuine.
func (c *verifiedCache) remember(key sum, p parsed) *verified {
	t := &verified{Access: p.Access, notBefore: SecondsOf(p.notBefore), bytes: entryBytes}
	for _, own := range []string{t.ID, t.Subject, t.Pairwise, t.Grant} {
		t.bytes += textBytes(own)
	}
	for _, common := range []*string{&t.Issuer, &t.Client, &t.KeyID} {
		list, own := c.shared.share([]string{*common})
		*common = list[0]
		t.bytes += own
	}
	for _, common := range []*[]string{&t.Audience, &t.Scopes} {
		list, own := c.shared.share(*common)
		*common = list
		t.bytes += own
	}
	c.good.Set(key, t)
	return t
}

// buffers spare the copy that hashing a string would allocate for each request.
var buffers = sync.Pool{New: func() any { return new([maxSize]byte) }}

// digest needs len(raw) <= maxSize. The buffer is wiped as far as it was used: a pool keeps what it is given.
func digest(raw string) sum {
	buffer, ok := buffers.Get().(*[maxSize]byte)
	if !ok {
		buffer = new([maxSize]byte)
	}
	n := copy(buffer[:], raw)
	s := sha256.Sum256(buffer[:n])
	clear(buffer[:n])
	buffers.Put(buffer)
	return sum(s[:])
}
