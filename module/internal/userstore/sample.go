package userstore

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// sampleEvery is how often a node looks at the hashes of some users: other nodes import users, too.
	sampleEvery = 5 * time.Minute
	// sampleSize is the number of users from each of the two places where a sample is taken.
	sampleSize = 64
)

// sampling is when the last sample was taken.
type sampling struct {
	mu   sync.Mutex
	last time.Time
}

// sampleCosts learns what the hashes of some users cost, so that the first sign-in as an unknown user already takes as
// long as that of others. It looks at the first IDs, since those of imported users may be of any form, and at a random
// place among those that are made here. If the store fails, the next sign-in tries again.
func (s *Users) sampleCosts(ctx context.Context) {
	if !s.samples.mu.TryLock() {
		return // another sign-in is at it
	}
	defer s.samples.mu.Unlock()
	if now := s.now(); !s.samples.last.IsZero() && now.Sub(s.samples.last) < sampleEvery {
		return
	}
	for _, after := range []string{"", newID()} {
		records, err := s.store.List(ctx, store.KindUser, store.UsersParent, after, sampleSize)
		if err != nil {
			return
		}
		for _, r := range records {
			var kept store.User
			if store.Decode(r.Value, &kept) != nil {
				continue
			}
			if parsed, err := password.Parse(kept.PasswordHash); err == nil {
				s.common.Record(kept.ID, parsed.Cost())
			}
		}
	}
	s.samples.last = s.now()
}

// newID makes an ID: 128 random bits.
func newID() string { return "u-" + secret.ID() }
