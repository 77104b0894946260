package keyring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// maxAttempts is how often a change of the ring is tried while other nodes keep changing it.
const maxAttempts = 16

// Reasons for making a key.
const (
	WhyFirst    = "first"    // there was none that could sign
	WhySchedule = "schedule" // the one that signs became old
	WhyCommand  = "command"  // somebody asked for it, or revoked the one before
)

// Change is a key that was made or, with Revoked, revoked.
type Change struct {
	Kid, Alg string
	Why      string
	Revoked  bool
}

// draft is the next state of the ring while it is being planned. All of it derives from one read of the record, and
// it is stored only if the record has not changed since.
type draft struct {
	was     *snapshot
	now     time.Time
	life    time.Duration // the longest lifetime of any token of this node
	keys    []storedKey   // the kept keys, then the added ones
	made    []storedKey
	changed bool

	spare map[string]*storedKey // keys generated in advance, by algorithm
	needs []string              // algorithms for which a key must be generated
}

// addKey adds a new key to the ring. If from is zero the key signs at once, on every node whatever its clock
// says.
func (d *draft) addKey(alg string, from time.Time) {
	spare := d.spare[alg]
	if spare == nil {
		d.needs = append(d.needs, alg)
		return
	}
	k := *spare
	k.Created, k.SignsFrom, k.Life = d.now.UTC().Truncate(time.Second), from, d.life
	d.keys, d.made, d.changed = append(d.keys, k), append(d.made, k), true
}

// change replaces the stored ring by what plan makes of it, and plans again if another node wrote meanwhile. Keys
// are generated while nobody waits for the ring: an RSA key can take a second.
func (r *Ring) change(ctx context.Context, why string, plan func(*draft)) (*snapshot, error) {
	spare := make(map[string]*storedKey)
	for range maxAttempts {
		d := &draft{spare: spare}
		s, err := r.tryChange(ctx, d, plan)
		switch {
		case err == nil && len(d.needs) == 0:
			for _, k := range d.made {
				r.Record(ctx, Change{Kid: k.Kid, Alg: k.Alg, Why: why})
			}
			return s, nil
		case err == nil:
			for _, alg := range d.needs {
				if spare[alg], err = r.newKey(ctx, alg); err != nil {
					return nil, err
				}
			}
		case !store.IsAnswer(err): // otherwise another node wrote meanwhile
			return nil, err
		}
	}
	return nil, errors.New("keyring: other nodes changed the signing keys during every attempt")
}

// tryChange reads the ring, plans the change and writes it.
func (r *Ring) tryChange(ctx context.Context, d *draft, plan func(*draft)) (*snapshot, error) {
	r.access.Lock()
	defer r.access.Unlock()
	s, err := r.readRing(ctx)
	if err != nil {
		return nil, err
	}
	d.was, d.now, d.life = s, r.Now(), r.MaxTokenLife()
	for k := range s.published(d.now) {
		d.keys = append(d.keys, k.storedKey)
	}
	if plan(d); !d.changed || len(d.needs) > 0 {
		return s, nil
	}
	fresh, err := r.writeRecord(ctx, s.version, d.keys)
	if err != nil {
		return nil, fmt.Errorf("keyring: storing the signing keys: %w", err)
	}
	fresh.read = s.read
	r.install(fresh, s.seen)
	return fresh, nil
}

func (r *Ring) writeRecord(ctx context.Context, version uint64, keys []storedKey) (*snapshot, error) {
	if len(keys) > maxKeys {
		return nil, fmt.Errorf("%d keys, at most %d fit", len(keys), maxKeys)
	}
	value, err := json.Marshal(ringRecord{Schema: schema, Keys: keys})
	if err != nil {
		return nil, err
	}
	record := store.Record{Key: recordKey, Value: value, Version: version}
	if version == 0 {
		record, err = r.Store.Create(ctx, record)
	} else {
		record, err = r.Store.Swap(ctx, record)
	}
	if err != nil {
		return nil, err
	}
	return decodeRecord(record)
}

// extendLives records that keys which still sign may sign tokens with a longer lifetime than was known, so that the
// keys do not retire too early.
func (d *draft) extendLives() {
	for i := range d.keys {
		if k := &d.keys[i]; !k.stoppedSigning(d.now) && k.Life < d.life {
			k.Life = d.life
			k.retire(k.SignsUntil)
			d.changed = true
		}
	}
}

// retire lets the key sign until the given time, and verify until the last of its tokens has expired on the
// slowest clock. The zero time means forever.
func (k *storedKey) retire(until time.Time) {
	k.SignsUntil, k.Retires = until, time.Time{}
	if !until.IsZero() {
		k.Retires = until.Add(k.Life + maxSkew)
	}
}

// rotateKeys starts a rotation of the algorithm's key unless one is in progress.
func (d *draft) rotateKeys(alg string) {
	switch {
	case d.was.next(alg, d.now) != nil:
		return
	case d.was.signer(alg, d.now) == nil:
		d.addKey(alg, time.Time{})
		return
	}
	from := d.now.Add(lead)
	for i := range d.keys {
		if k := &d.keys[i]; k.Alg == alg && k.SignsUntil.IsZero() {
			k.Life = max(k.Life, d.life)
			k.retire(from)
		}
	}
	d.addKey(alg, from)
}

// removeKey removes a key and ensures that another one signs from now on.
func (d *draft) removeKey(kid, alg string) {
	d.keys = slices.DeleteFunc(d.keys, func(k storedKey) bool { return k.Kid == kid })
	d.changed = true
	signer := d.was.signer(alg, d.now)
	if signer == nil {
		d.addKey(alg, time.Time{})
		return
	}
	next := d.was.next(alg, d.now)
	for i := range d.keys {
		switch k := &d.keys[i]; {
		case k.Kid != signer.Kid:
		case signer == next: // it cannot wait until every verifier has seen it
			k.SignsFrom = time.Time{}
		case next == nil: // its successor is the key that was removed
			k.retire(time.Time{})
		}
	}
}
