// Package authcode keeps authorization codes until they are redeemed: it limits how many a user gets, checks that the
// permission still holds, and revokes a code without forgetting it. Those who issue a code make it; package grant
// redeems it.
package authcode

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
	"github.com/gatehouse/gatehouse/module/store"
)

// Margin is how long the record of a code outlives everything that could ask for the same code again.
const Margin = 10 * time.Minute

// Codes keeps codes. All fields are needed.
type Codes struct {
	Store    store.Backend
	Attempts *lockout.Book
	PerUser  int // codes and implicit tokens a minute for one user
}

// Count counts a code or implicit token of a user: each is two records, and a remembered consent lets a client ask in
// a loop.
func (c Codes) Count(subject string) error {
	return refusal.Limited(c.Attempts.Take("code:"+subject, lockout.Rule{Limit: c.PerUser, Window: time.Minute}))
}

// Add names the grant of a code and stores the code. It has no parent, as it expires soon. Errors match
// [store.ErrExists] when there is one already.
func (c Codes) Add(ctx context.Context, key store.Key, v *store.Code, expires time.Time) error {
	v.Grant = store.GrantOf(v.Dialect, key.ID)
	_, err := store.Create(ctx, c.Store, store.Record{Key: key, Expires: expires.Add(Margin)}, v)
	return err
}

// StillAllowed reports whether the session for which something was stored still exists, and neither its user nor the
// permission was ended since. A session that ended alone leaves no epoch: a caller that stores first and then asks
// finds it gone.
func (c Codes) StillAllowed(ctx context.Context, client, subject, session string, e store.Epochs) (bool, error) {
	_, err := c.Store.Get(ctx, store.Key{Kind: store.KindSession, ID: session})
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ended, err := ending.Ended(ctx, c.Store, subject, client, e)
	return err == nil && !ended, err
}

// Revoke marks the code under key, whichever request made it. Deleting it would not end it: a code is a function of
// its request, so the form that made it, sent again, would make it again. A used code stays as it is.
func (c Codes) Revoke(ctx context.Context, key store.Key) error {
	var v store.Code
	_, err := store.Change(ctx, c.Store, store.Record{Key: key}, &v, func(rec *store.Record) (bool, error) {
		if rec.Version == 0 {
			return false, nil
		}
		var ok bool
		v, ok = v.Revoke()
		return ok, nil
	})
	return err
}
