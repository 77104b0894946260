package keyring

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/jose"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// lead is how long a new key is published before it signs: the 300 s for which a relying party may keep the keys
	// (max-age of the jwks address), the age of the ring in a node that answers it, and clocks that differ.
	lead = 5*time.Minute + maxAge + jose.Leeway
	// maxSkew is the largest difference between two clocks that are each off by the leeway.
	maxSkew = 2 * jose.Leeway
	// changeTimeout bounds a change of the ring, the making of keys included.
	changeTimeout = 20 * time.Second
	// tendEvery is the least time between two calls of Tend by a node; the most is twice as long, so that nodes which
	// started together do not stay together.
	tendEvery = 5 * time.Minute
	// tendFirst bounds the wait for the first call.
	tendFirst = 30 * time.Second
)

// ErrUnknownKey is returned for a kid or an algorithm that the ring does not have.
var ErrUnknownKey = errors.New("keyring: no such signing key")

// Rotate replaces the key of an algorithm, or with "" of all that have one: the new key is published now and signs in
// seven minutes, when everybody has seen it. The old one stays until its last token has expired. While a rotation is
// in progress another changes nothing. why is one of the Why constants. It returns the ring as it is then.
func (r *Ring) Rotate(ctx context.Context, alg, why string) ([]SigningKey, error) {
	if !Supports(alg) && alg != "" {
		return nil, fmt.Errorf("%w: nothing is signed with %q", ErrUnknownKey, alg)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	s, err := r.change(ctx, why, func(d *draft) {
		if alg != "" {
			d.rotateKeys(alg)
			return
		}
		for _, alg := range d.was.algorithms(d.now) {
			d.rotateKeys(alg)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.list(r.Now()), nil
}

// Revoke is for a key that leaked: every token it signed is refused by every guard within a second, it is not
// published any more, and another signs at once. Relying parties that keep the published keys trust what it signed
// until their copy is too old (five minutes). It returns the ring as it is then.
//
// The revocation is stored first. If the process dies after that, each node treats the key as revoked all the same,
// and the next one that signs makes the successor.
func (r *Ring) Revoke(ctx context.Context, kid string) ([]SigningKey, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	s, err := r.reread(ctx)
	if err != nil {
		return nil, err
	}
	k := s.byID[kid]
	switch {
	case k == nil && r.Revocations.KeyRevoked(kid):
		return s.list(r.Now()), nil
	case k == nil:
		return nil, ErrUnknownKey
	}
	if err := r.Revocations.Revoke(ctx, store.Revocation{Of: store.RevokeKey, Value: kid}); err != nil {
		return nil, err
	}
	s, err = r.change(ctx, WhyCommand, func(d *draft) { d.removeKey(kid, k.Alg) })
	if err != nil {
		return nil, err
	}
	r.Record(ctx, Change{Kid: kid, Alg: k.Alg, Why: WhyCommand, Revoked: true})
	return s.list(r.Now()), nil
}

// Tend does what is due: a key that is too old gets a successor, and one that retired leaves the record. Any number
// of nodes may call it at once.
func (r *Ring) Tend(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	every := r.RotateEvery()
	_, err := r.change(ctx, WhySchedule, func(d *draft) {
		d.changed = len(d.keys) != len(d.was.keys)
		d.extendLives()
		for _, alg := range d.was.algorithms(d.now) {
			k := d.was.signer(alg, d.now)
			if k == nil {
				continue // it was revoked at this moment
			}
			from := k.SignsFrom
			if from.IsZero() {
				from = k.Created
			}
			if every > 0 && !d.now.Before(from.Add(every)) {
				d.rotateKeys(alg)
			}
		}
	})
	return err
}

// Run tends the ring from time to time until ctx ends, and returns its error. It is called once, and the caller owns
// the goroutine.
func (r *Ring) Run(ctx context.Context) error {
	timer := time.NewTimer(randomBelow(tendFirst))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		if err := r.Tend(ctx); err != nil && ctx.Err() == nil {
			r.Log.LogAttrs(ctx, slog.LevelWarn, "the signing keys could not be looked after", slog.Any("error", err))
		}
		timer.Reset(tendEvery + randomBelow(tendEvery))
	}
}

func randomBelow(d time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(d)))
	if err != nil {
		return d
	}
	return time.Duration(n.Int64())
}
