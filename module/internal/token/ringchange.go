package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// makeAttempts bounds the races that one change of the ring may lose.
const makeAttempts = 16

// Why a key was made.
const (
	WhyFirst    = "first"    // there was none that could sign
	WhySchedule = "schedule" // the one that signs became old
	WhyCommand  = "command"  // somebody asked for it, or revoked the one before
)

// KeyChange is a key that was made or, with Revoked, revoked.
type KeyChange struct {
	Kid, Alg string
	Why      string
	Revoked  bool
}

// draft is the next state of the ring while it is made up. Only what is decided in one
// look at was goes into it, and it is stored only if the record is still that.
type draft struct {
	was     *snapshot
	now     time.Time
	life    time.Duration // the longest life of any token of this node
	keys    []storedKey   // what is kept, then what was added
	made    []storedKey
	changed bool

	spare map[string]*storedKey // keys at hand, by algorithm
	needs []string              // algorithms for which none was
}

// add takes a new key into the ring; a zero from lets it sign at once, on each node
// however its clock goes.
func (d *draft) add(alg string, from time.Time) {
	spare := d.spare[alg]
	if spare == nil {
		d.needs = append(d.needs, alg)
		return
	}
	k := *spare
	k.Created, k.SignsFrom, k.Life = d.now.UTC().Truncate(time.Second), from, d.life
	d.keys, d.made, d.changed = append(d.keys, k), append(d.made, k), true
}

// change moves the stored ring to what plan makes of it, and asks plan anew when another
// node wrote meanwhile. Keys are generated while nobody waits for the ring: an RSA key
// can take a second.
func (r *Ring) change(ctx context.Context, why string, plan func(*draft)) (*snapshot, error) {
	spare := make(map[string]*storedKey)
	for range makeAttempts {
		d := &draft{spare: spare}
		s, err := r.attempt(ctx, d, plan)
		switch {
		case err == nil && len(d.needs) == 0:
			for _, k := range d.made {
				r.record(ctx, KeyChange{Kid: k.Kid, Alg: k.Alg, Why: why})
			}
			return s, nil
		case err == nil:
			for _, alg := range d.needs {
				if spare[alg], err = r.newKey(ctx, alg); err != nil {
					return nil, err
				}
			}
		case store.IsAnswer(err):
			// Another node wrote meanwhile.
		default:
			return nil, err
		}
	}
	return nil, errors.New("token: the key ring changes too often to change it")
}

// attempt reads the ring, plans and writes.
func (r *Ring) attempt(ctx context.Context, d *draft, plan func(*draft)) (*snapshot, error) {
	r.access.Lock()
	defer r.access.Unlock()
	s, err := r.read(ctx)
	if err != nil {
		return nil, err
	}
	d.was, d.now, d.life = s, r.now(), r.maxLife()
	d.keys = s.kept(d.now)
	if plan(d); !d.changed || len(d.needs) > 0 {
		return s, nil
	}
	next, err := newRingRecord(d.keys)
	if err != nil {
		return nil, err
	}
	fresh, err := r.write(ctx, s.version, next)
	if err != nil {
		return nil, fmt.Errorf("token: storing the key ring: %w", err)
	}
	fresh.seen = s.seen
	r.install(fresh)
	return fresh, nil
}

func (r *Ring) write(ctx context.Context, version uint64, next ringRecord) (*snapshot, error) {
	value, err := json.Marshal(next)
	if err != nil {
		return nil, err
	}
	record := store.Record{Key: ringRecordKey, Value: value, Version: version}
	if version == 0 {
		record, err = r.store.Create(ctx, record)
	} else {
		record, err = r.store.Swap(ctx, record)
	}
	if err != nil {
		return nil, err
	}
	return decodeRing(record)
}

// raise records that keys which still sign may sign for tokens that live longer than
// was known, so that they are not taken away from under them.
func (d *draft) raise() {
	for i := range d.keys {
		if k := &d.keys[i]; !k.ended(d.now) && k.Life < d.life {
			k.Life = d.life
			k.retire(k.SignsUntil)
			d.changed = true
		}
	}
}

// retire lets the key sign until then, and verify until the last of its tokens has
// expired on the slowest clock. Zero: for ever.
func (k *storedKey) retire(until time.Time) {
	k.SignsUntil, k.Retires = until, time.Time{}
	if !until.IsZero() {
		k.Retires = until.Add(k.Life + 2*Leeway)
	}
}

// rotate begins a rotation of the algorithm unless one is on its way.
func (d *draft) rotate(alg string) {
	switch {
	case d.was.next(alg, d.now) != nil:
		return
	case d.was.signer(alg, d.now) == nil:
		d.add(alg, time.Time{})
		return
	}
	from := d.now.Add(lead)
	for i := range d.keys {
		if k := &d.keys[i]; k.Alg == alg && k.SignsUntil.IsZero() {
			k.Life = max(k.Life, d.life)
			k.retire(from)
		}
	}
	d.add(alg, from)
}

// remove takes a key out and sees to it that another signs now and goes on to.
func (d *draft) remove(kid, alg string) {
	rest := slices.DeleteFunc(d.keys, func(k storedKey) bool { return k.Kid == kid })
	d.keys, d.changed = rest, true
	signer := d.was.signer(alg, d.now)
	if signer == nil {
		d.add(alg, time.Time{})
		return
	}
	next := d.was.next(alg, d.now)
	for i := range d.keys {
		switch k := &d.keys[i]; {
		case k.Kid != signer.Kid:
		case signer == next: // it cannot wait until everybody has seen it
			k.SignsFrom = time.Time{}
		case next == nil: // what was to follow it is what was removed
			k.retire(time.Time{})
		}
	}
}
