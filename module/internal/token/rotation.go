package token

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// lead is how long a new key is published before it signs: the 300 s for which a
	// relying party may keep the keys (max-age of the jwks address), the age of the ring
	// in a node that answers it, and clocks that differ.
	lead = 5*time.Minute + ringAge + Leeway
	// changeTimeout bounds a change of the ring, the making of keys included.
	changeTimeout = 20 * time.Second
)

// ErrUnknownKey is returned for a kid or an algorithm that the ring does not have.
var ErrUnknownKey = errors.New("token: no such signing key")

// Rotate has another key take over for an algorithm, or with "" for all that have one:
// it is published now and signs in seven minutes, when everybody has seen it. The old
// one stays until its last token has expired. While a rotation is on its way another
// changes nothing. why is one of the Why constants. It returns the ring as it is then.
func (r *Ring) Rotate(ctx context.Context, alg, why string) ([]SigningKey, error) {
	if _, ok := algorithms[alg]; !ok && alg != "" {
		return nil, fmt.Errorf("%w: nothing is signed with %q", ErrUnknownKey, alg)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	s, err := r.change(ctx, why, func(d *draft) {
		if alg != "" {
			d.rotate(alg)
			return
		}
		for _, alg := range d.was.algorithms(d.now) {
			d.rotate(alg)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.list(r.now()), nil
}

// Revoke is for a key that leaked: every token it signed is refused by every guard
// within a second, it is not published any more, and another signs at once. Relying
// parties that keep the published keys trust what it signed until their copy is too old
// (five minutes). It returns the ring as it is then.
//
// The revocation is stored first. Should the process die then, each node treats the key
// as gone all the same, and the next one that signs makes the successor.
func (r *Ring) Revoke(ctx context.Context, kid string) ([]SigningKey, error) {
	if r.revocations == nil {
		return nil, errors.New("token: this key ring cannot revoke")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
	defer cancel()
	s, err := r.reread(ctx)
	if err != nil {
		return nil, err
	}
	k := s.byID[kid]
	switch {
	case k != nil:
	case r.revocations.KeyRevoked(kid): // somebody has done it
		return s.list(r.now()), nil
	default:
		return nil, ErrUnknownKey
	}
	if err := r.revocations.Revoke(ctx, store.Revocation{Of: store.RevokeKey, Value: kid}); err != nil {
		return nil, err
	}
	s, err = r.change(ctx, WhyCommand, func(d *draft) { d.remove(kid, k.Alg) })
	if err != nil {
		return nil, err
	}
	r.record(ctx, KeyChange{Kid: kid, Alg: k.Alg, Why: WhyCommand, Revoked: true})
	return s.list(r.now()), nil
}
