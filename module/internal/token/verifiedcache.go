package token

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/maypok86/otter/v2"
)

const (
	// badSize bounds what is remembered of forged and malformed tokens. It is apart from the cache of good ones, so
	// that a flood cannot push those out.
	badSize = 10_000
	// weightUnit is the memory that one place in the cache of good tokens stands for.
	weightUnit = 1 << 10
)

type sum = [sha256.Size]byte

// verifiedCache remembers tokens by their SHA-256: a copy of this memory holds none.
type verifiedCache struct {
	good *otter.Cache[sum, *verified]
	bad  *otter.Cache[sum, error] // only refusals that can never change
}

func newVerifiedCache(size int) (*verifiedCache, error) {
	good, err := otter.New(&otter.Options[sum, *verified]{
		MaximumWeight: uint64(size),
		Weigher:       func(_ sum, t *verified) uint32 { return t.weight() },
	})
	if err != nil {
		return nil, fmt.Errorf("token: the cache of verified tokens: %w", err)
	}
	bad, err := otter.New(&otter.Options[sum, error]{MaximumSize: badSize})
	if err != nil {
		return nil, fmt.Errorf("token: the cache of refused tokens: %w", err)
	}
	return &verifiedCache{good, bad}, nil
}

// weight is the token's share of memory in units, at least one.
func (t *verified) weight() uint32 {
	n := len(t.ID) + len(t.Issuer) + len(t.Subject) + len(t.Pairwise) + len(t.Client) + len(t.Grant) + len(t.KeyID)
	for _, list := range [][]string{t.Audience, t.Scopes} {
		for _, s := range list {
			n += len(s) + 16
		}
	}
	return uint32(1 + n/weightUnit)
}

// buffers spare the copy that hashing a string would allocate for each request.
var buffers = sync.Pool{New: func() any { return new([maxSize]byte) }}

// digest needs len(raw) <= maxSize. The buffer is wiped as far as it was used: a pool keeps what it is given.
func digest(raw string) sum {
	buffer, ok := buffers.Get().(*[maxSize]byte)
	if !ok {
		return sha256.Sum256([]byte(raw))
	}
	n := copy(buffer[:], raw)
	s := sha256.Sum256(buffer[:n])
	clear(buffer[:n])
	buffers.Put(buffer)
	return s
}
