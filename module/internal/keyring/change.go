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

// maxAttempts bounds the races that one change of the ring may lose.
const maxAttempts = 16

// Why a key was made.
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

// draft is the next state of the ring while it is planned. Everything in it follows from one reading of the record,
// and it is stored only if the record is still the same.
type draft struct {
	was     *snapshot
	now     time.Time
	life    time.Duration // the longest life of any token of this node
	keys    []storedKey   // what is kept, then what was added
	made    []storedKey
	changed bool

	spare map[string]*storedKey // new keys at hand, by algorithm
	needs []string              // algorithms for which there was none
}

// addKey takes a new key into the ring. With a zero from it signs at once, on each node whatever its clock says.
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

// change moves the stored ring to what plan makes of it, and plans again if another node wrote meanwhile. Keys are
// generated while nobody waits for the ring: an RSA key can take a second.
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
		case !store.IsAnswer(err): // else another node wrote meanwhile
			return nil, err
		}
	}
	return nil, errors.New("keyring: the ring changes too often to change it")
}

// tryChange reads the ring, plans and writes.
func (r *Ring) tryChange(ctx context.Context, d *draft, plan func(*draft)) (*snapshot, error) {
	r.access.Lock()
	defer r.access.Unlock()
	s, err := r.read(ctx)
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

// extendLives records that keys which still sign may sign for tokens that live longer than was known, so that they do
// not retire too early.
func (d *draft) extendLives() {
	for i := range d.keys {
		if k := &d.keys[i]; !k.stoppedSigning(d.now) && k.Life < d.life {
			k.Life = d.life
			k.retire(k.SignsUntil)
			d.changed = true
		}
	}
}

// retire lets the key sign until then, and verify until the last of its tokens has expired on the slowest clock.
// Zero: for ever.
func (k *storedKey) retire(until time.Time) {
	k.SignsUntil, k.Retires = until, time.Time{}
	if !until.IsZero() {
		k.Retires = until.Add(k.Life + maxSkew)
	}
}

// rotateKeys begins a rotation of the algorithm unless one is in progress.
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

// removeKey takes a key out and makes sure that another one signs now and from then on.
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
		case signer == next: // it cannot wait until everybody has seen it
			k.SignsFrom = time.Time{}
		case next == nil: // its successor is the key that was removed
			k.retire(time.Time{})
		}
	}
}
