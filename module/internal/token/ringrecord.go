package token

import (
	"cmp"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// ringSchema is written into the record; a higher one is refused.
const ringSchema = 1

// maxRingKeys bounds the ring. Three algorithms, each with the signing key, the next
// one and those that tokens still need, are far below it.
const maxRingKeys = 64

// ringRecordKey is where the one record with all keys is stored.
var ringRecordKey = store.Key{Kind: store.KindKeyRing, ID: "signing"}

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
	// Private is the PKCS #8 form, sealed and bound to Kid.
	Private string    `json:"private"`
	Created time.Time `json:"created"`
	// SignsFrom is when the key may begin to sign; zero: at once. The first key of
	// an algorithm has zero, so that no node's clock can be behind it.
	SignsFrom time.Time `json:"signs_from,omitzero"`
	// SignsUntil is when the next key takes over; zero while there is none.
	SignsUntil time.Time `json:"signs_until,omitzero"`
	// Life is the longest life of any token it may sign, as far as any node knew.
	Life time.Duration `json:"life,omitempty"`
	// Retires is when the key is neither published nor accepted any more; zero: never.
	Retires time.Time `json:"retires,omitzero"`
}

// ringKey is a key that was read and checked. It is immutable.
type ringKey struct {
	storedKey
	jwk       jwk
	algorithm algorithm
	public    crypto.PublicKey
}

func (k *storedKey) retired(now time.Time) bool {
	return !k.Retires.IsZero() && !now.Before(k.Retires)
}

func (k *storedKey) ended(now time.Time) bool {
	return !k.SignsUntil.IsZero() && !now.Before(k.SignsUntil)
}

// snapshot is the ring as it was read. It is immutable.
type snapshot struct {
	version uint64     // of the stored record; 0: there is none
	keys    []*ringKey // oldest first
	byID    map[string]*ringKey

	// revoked is asked at each use, for the record may still hold what was revoked a
	// moment ago; nil: nothing is.
	revoked func(kid string) bool
	seen    uint64 // how many revocations of keys were known before it was read
	dirty   bool   // it held a revoked key when it was read
}

// gone is a key that must not be used for anything.
func (s *snapshot) gone(k *ringKey, now time.Time) bool {
	return k.retired(now) || s.revoked != nil && s.revoked(k.Kid)
}

// decodeRing checks every key, so that a damaged or foreign record is a technical
// error once and not a wrong verdict later.
func decodeRing(r store.Record) (*snapshot, error) {
	s := &snapshot{version: r.Version, byID: make(map[string]*ringKey)}
	var record ringRecord
	if err := json.Unmarshal(r.Value, &record); err != nil {
		return nil, fmt.Errorf("token: reading the key ring: %w", err)
	}
	if record.Schema < 1 || record.Schema > ringSchema {
		return nil, fmt.Errorf("token: the key ring has schema %d, this release reads up to %d: written by a newer gatehouse?", record.Schema, ringSchema)
	}
	if len(record.Keys) > maxRingKeys {
		return nil, fmt.Errorf("token: the key ring holds %d keys, at most %d are read", len(record.Keys), maxRingKeys)
	}
	for _, stored := range record.Keys {
		public, err := stored.Public.public()
		if err != nil {
			return nil, fmt.Errorf("token: key %q of the ring: %w", stored.Kid, err)
		}
		alg, ok := algorithms[stored.Alg]
		if !ok || stored.Public.Alg != stored.Alg || stored.Public.Kid != stored.Kid || s.byID[stored.Kid] != nil {
			return nil, fmt.Errorf("token: key %q of the ring is damaged", stored.Kid)
		}
		k := &ringKey{storedKey: stored, jwk: stored.Public, algorithm: alg, public: public}
		s.keys = append(s.keys, k)
		s.byID[k.Kid] = k
	}
	slices.SortFunc(s.keys, byAge)
	return s, nil
}

func byAge(a, b *ringKey) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Kid, b.Kid)) }

// kept are the keys that a new record goes on holding.
func (s *snapshot) kept(now time.Time) []storedKey {
	var keys []storedKey
	for k := range s.published(now) {
		keys = append(keys, k.storedKey)
	}
	return keys
}

func newRingRecord(keys []storedKey) (ringRecord, error) {
	if len(keys) > maxRingKeys {
		return ringRecord{}, errors.New("token: the key ring is full")
	}
	return ringRecord{Schema: ringSchema, Keys: keys}, nil
}

// published are the keys that outsiders need, oldest first.
func (s *snapshot) published(now time.Time) iter.Seq[*ringKey] {
	return func(yield func(*ringKey) bool) {
		for _, k := range s.keys {
			if !s.gone(k, now) && !yield(k) {
				return
			}
		}
	}
}

// signer is the newest key of the algorithm whose time to sign has come and is not
// over. When none has begun, the one that begins first signs rather than none. nil: no
// key can sign.
func (s *snapshot) signer(alg string, now time.Time) *ringKey {
	var current, next *ringKey
	for k := range s.published(now) {
		switch {
		case k.Alg != alg, k.ended(now):
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

// next is a key that is published and does not sign yet, nil for none.
func (s *snapshot) next(alg string, now time.Time) *ringKey {
	for k := range s.published(now) {
		if k.Alg == alg && k.SignsFrom.After(now) {
			return k
		}
	}
	return nil
}
