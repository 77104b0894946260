package token

import (
	"context"
	"slices"
	"time"
)

// KeyState is what a key is used for.
type KeyState string

// The states of a key, in the order in which it goes through them.
const (
	KeyNext     KeyState = "next"     // published, does not sign yet
	KeySigns    KeyState = "signs"    // signs
	KeyVerifies KeyState = "verifies" // has signed tokens that may be alive
)

// SigningKey is what can be told about a key of the ring. Times are zero where there is
// none.
type SigningKey struct {
	Kid       string    `json:"kid"`
	Alg       string    `json:"alg"`
	State     KeyState  `json:"state"`
	Created   time.Time `json:"created"`
	SignsFrom time.Time `json:"signs_from,omitzero"` // zero: at once when it was made
	Retires   time.Time `json:"retires,omitzero"`    // zero: not before the next one is made
}

// List returns the keys in use, oldest first, as the store has them now.
func (r *Ring) List(ctx context.Context) ([]SigningKey, error) {
	s, err := r.reread(ctx)
	if err != nil {
		return nil, err
	}
	return s.list(r.now()), nil
}

func (s *snapshot) list(now time.Time) []SigningKey {
	keys := make([]SigningKey, 0, len(s.keys))
	for k := range s.published(now) {
		state := KeyVerifies
		switch {
		case s.signer(k.Alg, now) == k:
			state = KeySigns
		case k.SignsFrom.After(now):
			state = KeyNext
		}
		keys = append(keys, SigningKey{
			Kid: k.Kid, Alg: k.Alg, State: state, Created: k.Created, SignsFrom: k.SignsFrom, Retires: k.Retires,
		})
	}
	return keys
}

// algorithms are those of which a key can sign.
func (s *snapshot) algorithms(now time.Time) []string {
	var algs []string
	for k := range s.published(now) {
		if !slices.Contains(algs, k.Alg) && s.signer(k.Alg, now) != nil {
			algs = append(algs, k.Alg)
		}
	}
	return algs
}

// Life is the longest life of any token that a key of the ring may have signed, as far
// as this process has read the ring: longer than that of the configuration where an
// earlier one, or another node's, allowed more.
func (r *Ring) Life() time.Duration {
	var life time.Duration
	if s := r.current.Load(); s != nil {
		for _, k := range s.keys {
			life = max(life, k.Life)
		}
	}
	return life
}
