package grant

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Families is what the endpoints for revocation and introspection ask about refresh
// tokens. It is safe for concurrent use.
type Families struct{ all families }

// NewFamilies checks the configuration.
func NewFamilies(c Config) (*Families, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	return &Families{newFamilies(c)}, nil
}

// Presented is an authentic refresh token with the family it belongs to.
type Presented struct {
	store.Grant
	// Alive says that the token endpoint would take it now.
	Alive bool
	// Ends is when it dies unless it is used before.
	Ends time.Time
}

// Find returns the family of a refresh token that c presents, whosever it is: it is the
// caller's to compare the client. ok is false for what is no refresh token of ours, and
// for one whose family is forgotten because everything of it has expired. Errors are
// technical.
//
// The client is in the MAC but not in the token, so it is read from the family before
// anything is known to be authentic.
func (f *Families) Find(ctx context.Context, c *oauth.Client, token string) (p Presented, ok bool, err error) {
	family, _, _, ok := splitRefresh(token)
	if !ok {
		return p, false, nil
	}
	_, p.Grant, err = f.all.readFamily(ctx, family)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Presented{}, false, nil
	case err != nil:
		return Presented{}, false, err
	case p.Dialect != store.DialectOAuth:
		return Presented{}, false, nil
	}
	keys, err := f.all.Keys(ctx)
	if err != nil {
		return Presented{}, false, err
	}
	_, generation, ok := decodeRefresh(keys, token, p.Client, p.Dialect)
	if !ok {
		return Presented{}, false, nil
	}
	_, outcome := p.Rotate(generation, f.all.Now(), f.all.RefreshGrace, f.all.RefreshIdle)
	p.Alive = outcome == store.RotationNext || outcome == store.RotationAgain
	if p.Alive {
		ended, err := ending.Ended(ctx, f.all.Store, p.Subject, p.Client, p.Epochs)
		if err != nil {
			return Presented{}, false, err
		}
		p.Alive = !ended
	}
	if p.Alive && p.Client == c.ID {
		left, err := f.all.clientLeft(ctx, c, p.Grant)
		if err != nil {
			return Presented{}, false, err
		}
		p.Alive = !left
	}
	p.Ends = f.all.recordExpires(p.Grant).Add(-f.all.Access)
	return p, true, nil
}

// Begin stores a new family for so long and makes room for it among those of its user at
// its client. Errors are *oauth.Error, of a user or client that was ended since the
// permission an invalid_grant.
func (f *Families) Begin(ctx context.Context, g store.Grant, expires time.Time) (created bool, err error) {
	created, err = f.all.createFamily(ctx, g, expires)
	if err != nil {
		return false, oauth.Unavailable(err)
	}
	if !created {
		return false, nil
	}
	return true, f.all.admit(ctx, g)
}

// End kills a family: its refresh tokens of every generation and all access tokens. When
// it returns nil that is durable; ended says that the family was alive until then. Errors
// are technical, and calling again is right after one.
func (f *Families) End(ctx context.Context, id string) (ended bool, err error) {
	_, ended, err = f.all.end(ctx, id)
	return ended, err
}

// Revoked reports whether a family is dead by its own record, which is ahead of the feed
// that guards follow. One that is forgotten is not called dead: a family outlives all its
// tokens. Errors are technical.
func (f *Families) Revoked(ctx context.Context, id string) (bool, error) {
	_, g, err := f.all.readFamily(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return g.Revoked(), err
}
