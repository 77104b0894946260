package keyring

import (
	"cmp"
	"crypto"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// schema is the version of the record's format; records with a higher one are refused.
const schema = 1

// maxKeys bounds the ring. Three algorithms, each with its signing key, the next one and those that unexpired
// tokens still need, stay far below it.
const maxKeys = 64

// recordKey is the key of the single record with all signing keys.
var recordKey = store.Key{Kind: store.KindKeyRing, ID: "signing"}

// ringRecord is the stored form of the ring.
type ringRecord struct {
	Schema int         `json:"v"`
	Keys   []storedKey `json:"keys"`
}

// storedKey is one signing key.
type storedKey struct {
	Kid    string `json:"kid"`
	Alg    string `json:"alg"`
	Public jwk    `json:"public"`
	// Private is the private key in PKCS #8 form, sealed and bound to Kid.
	Private string    `json:"private"`
	Created time.Time `json:"created"`
	// SignsFrom is when the key may start signing; zero means at once. The first key of an algorithm has zero, so
	// that no node whose clock is slow has to wait for it.
	SignsFrom time.Time `json:"signs_from,omitzero"`
	// SignsUntil is when the next key takes over, or zero if there is none yet.
	SignsUntil time.Time `json:"signs_until,omitzero"`
	// Life is the longest lifetime of any token it may sign, as far as any node knew.
	Life time.Duration `json:"life,omitempty"`
	// Retires is when the key is no longer published or accepted; zero means never.
	Retires time.Time `json:"retires,omitzero"`
}

// Key is a key that was read and validated. Its fields are immutable.
type Key struct {
	storedKey
	algorithm algorithm
	public    crypto.PublicKey
	opened    atomic.Pointer[private]
}

// Verify checks a signature made with this key.
func (k *Key) Verify(text string, signature []byte) error {
	return k.algorithm.method.Verify(text, signature, k.public)
}

// Retired reports whether all tokens of the key have expired.
func (k *storedKey) Retired(now time.Time) bool {
	return !k.Retires.IsZero() && !now.Before(k.Retires)
}

// stoppedSigning reports whether another key has taken over.
func (k *storedKey) stoppedSigning(now time.Time) bool {
	return !k.SignsUntil.IsZero() && !now.Before(k.SignsUntil)
}

// snapshot is the ring as it was read. It is immutable.
type snapshot struct {
	version uint64 // of the stored record; 0: there is none
	keys    []*Key // oldest first
	byID    map[string]*Key
	read    time.Time // when the store was asked for it

	// revoked is called at each use, because the record may still contain a key that was just revoked. nil means that
	// no key is revoked.
	revoked func(kid string) bool
	seen    uint64 // number of key revocations known before the read
	dirty   bool   // it contained a revoked key when it was read
}

// decodeRecord validates every key, so that a damaged or foreign record is one technical error now rather than
// a wrong verdict later.
func decodeRecord(r store.Record) (*snapshot, error) {
	s := &snapshot{version: r.Version, byID: make(map[string]*Key)}
	var record ringRecord
	if err := json.Unmarshal(r.Value, &record); err != nil {
		return nil, err
	}
	if record.Schema < 1 || record.Schema > schema {
		return nil, fmt.Errorf("the record has schema %d, this release reads up to %d: written by a newer gatehouse?", record.Schema, schema)
	}
	if len(record.Keys) > maxKeys {
		return nil, fmt.Errorf("the record has %d keys, at most %d are read", len(record.Keys), maxKeys)
	}
	for _, stored := range record.Keys {
		public, err := stored.Public.public()
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", stored.Kid, err)
		}
		alg, ok := algorithms[stored.Alg]
		if !ok || stored.Public.Alg != stored.Alg || stored.Public.Kid != stored.Kid || s.byID[stored.Kid] != nil {
			return nil, fmt.Errorf("key %q is damaged", stored.Kid)
		}
		k := &Key{storedKey: stored, algorithm: alg, public: public}
		s.keys = append(s.keys, k)
		s.byID[k.Kid] = k
	}
	slices.SortFunc(s.keys, compareAge)
	return s, nil
}

func compareAge(a, b *Key) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Kid, b.Kid))
}

// published returns the keys that verifiers need, oldest first: all that are neither retired nor
// revoked.
func (s *snapshot) published(now time.Time) iter.Seq[*Key] {
	return func(yield func(*Key) bool) {
		for _, k := range s.keys {
			gone := k.Retired(now) || s.revoked != nil && s.revoked(k.Kid)
			if !gone && !yield(k) {
				return
			}
		}
	}
}

// signer returns the newest key of the algorithm that may sign now. If none may sign yet, it returns the one that
// starts first; nil means that no key can sign.
func (s *snapshot) signer(alg string, now time.Time) *Key {
	var current, next *Key
	for k := range s.published(now) {
		switch {
		case k.Alg != alg, k.stoppedSigning(now):
		case !k.SignsFrom.After(now):
			if current == nil || !k.SignsFrom.Before(current.SignsFrom) {
				current = k
			}
		case next == nil || k.SignsFrom.Before(next.SignsFrom):
			next = k
		}
	}
	return cmp.Or(current, next)
}

// next returns a published key that does not sign yet, or nil.
func (s *snapshot) next(alg string, now time.Time) *Key {
	for k := range s.published(now) {
		if k.Alg == alg && k.SignsFrom.After(now) {
			return k
		}
	}
	return nil
}

// algorithms returns the algorithms with a key that can sign.
func (s *snapshot) algorithms(now time.Time) []string {
	var algs []string
	for k := range s.published(now) {
		if !slices.Contains(algs, k.Alg) && s.signer(k.Alg, now) != nil {
			algs = append(algs, k.Alg)
		}
	}
	return algs
}
