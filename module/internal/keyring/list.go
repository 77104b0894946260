package keyring

import (
	"context"
	"time"
)

// KeyState says what a key is used for.
type KeyState string

// The states of a key, in order.
const (
	KeyNext     KeyState = "next"     // published, does not sign yet
	KeySigns    KeyState = "signs"    // signs
	KeyVerifies KeyState = "verifies" // has signed tokens that may be alive
)

// SigningKey describes a key of the ring to operators. A time that does not apply is zero.
type SigningKey struct {
	Kid       string    `json:"kid"`
	Alg       string    `json:"alg"`
	State     KeyState  `json:"state"`
	Created   time.Time `json:"created"`
	SignsFrom time.Time `json:"signs_from,omitzero"` // zero: since it was made
	Retires   time.Time `json:"retires,omitzero"`    // zero: not before the next one is made
}

// List reads the store and returns the keys in use, oldest first.
func (r *Ring) List(ctx context.Context) ([]SigningKey, error) {
	s, err := r.reread(ctx)
	if err != nil {
		return nil, err
	}
	return s.list(r.Now()), nil
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
