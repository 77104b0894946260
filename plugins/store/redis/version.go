package redis

import (
	"crypto/sha256"
	"encoding/binary"
	"sync/atomic"

	"github.com/gatehouse/gatehouse/module/store"
)

// versions are random numbers of 63 bits, so that none comes back when a record is made
// again, on whatever node, without a counter that a failover could set back.
type versions struct {
	seed []byte
	n    atomic.Uint64
}

func newVersions() *versions { return &versions{seed: store.NewSecret()} }

// nextVersion is never 0.
func (v *versions) nextVersion() uint64 {
	text := binary.BigEndian.AppendUint64(append(make([]byte, 0, len(v.seed)+8), v.seed...), v.n.Add(1))
	sum := sha256.Sum256(text)
	return max(1, binary.BigEndian.Uint64(sum[:])>>1)
}
