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
	// lead is how long a new key is published before it signs: the 300 s for which a relying party may cache the
	// keys (max-age of the jwks endpoint), the age of the ring in the node that served it, and clock differences.
	lead = 5*time.Minute + maxAge + jose.Leeway
	// maxSkew is the largest difference between two clocks that are each off by the leeway.
	maxSkew = 2 * jose.Leeway
	// changeTimeout bounds a change of the ring, including the generation of keys.
	changeTimeout = 20 * time.Second
	// tendEvery is the minimum time between two calls of Tend by a node. The maximum is twice that, chosen at random,
	// so that nodes which started together drift apart.
	tendEvery = 5 * time.Minute
	// tendFirst bounds the delay of the first call.
	tendFirst = 30 * time.Second
)

// ErrUnknownKey is returned for a kid or algorithm that the ring does not have.
var ErrUnknownKey = errors.New("keyring: no such signing key")

// Rotate replaces the key of an algorithm, or of all algorithms that have one if alg is "". The new key is published
// now and signs in seven minutes, when every verifier has seen it. The old one stays until its last token has
// expired. During a rotation, another one changes nothing. why is one of the Why constants. Rotate returns the
// resulting ring.
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

// Revoke revokes a leaked key: every guard refuses all tokens it signed within a second, it is no longer published,
// and another key signs at once. Relying parties that cache the published keys trust its signatures until their
// copy is too old (five minutes). Revoke returns the resulting ring.
//
// The revocation is stored first. If the process dies after that, every node still treats the key as revoked, and
// the next one that signs makes the successor.
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

// Tend does what is due: it replaces keys that are too old, and removes retired ones from the record. Any number of
// nodes may call it at once.
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

// Run calls Tend periodically until ctx ends, and returns its error. It is called once, and the caller owns the
// goroutine.
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
