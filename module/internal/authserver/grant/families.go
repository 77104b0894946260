package grant

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Families begins, finds and ends grant families, the records of what users allowed clients. It is safe for
// concurrent use.
type Families struct {
	Config
	pairTurns *pairTurns
	// presents names what refusals are about: the parameter code, device_code or refresh_token, or "the grant" if the
	// client presents none of them.
	presents string
}

// NewFamilies checks the configuration.
func NewFamilies(c Config) (*Families, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	return &Families{c, newPairTurns(), "the grant"}, nil
}

// presenting returns a copy whose refusals are about another parameter.
func (f *Families) presenting(parameter string) *Families {
	copied := *f
	copied.presents = parameter
	return &copied
}

// Presented is an authentic refresh token with the family it belongs to.
type Presented struct {
	store.Grant
	// Alive reports whether the token endpoint would accept it now.
	Alive bool
	// Ends is when it expires unless it is used before.
	Ends time.Time
}

// Find returns the family of a refresh token that c presents, whichever client it belongs to: the caller compares
// the client. ok is false if it is not a refresh token of the gateway, or if its family is gone because everything
// in it has expired. Errors are technical.
//
// The client is in the MAC but not in the token, so it is read from the family before anything is known to be
// authentic.
func (f *Families) Find(ctx context.Context, c *oauth.Client, token string) (p Presented, ok bool, err error) {
	family, _, _, ok := splitRefresh(token)
	if !ok {
		return p, false, nil
	}
	_, p.Grant, err = f.readFamily(ctx, family)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Presented{}, false, nil
	case err != nil:
		return Presented{}, false, err
	case p.Dialect != store.DialectOAuth:
		return Presented{}, false, nil
	}
	keys, err := f.Keys(ctx)
	if err != nil {
		return Presented{}, false, err
	}
	_, generation, ok := decodeRefresh(keys, token, p.Client, p.Dialect)
	if !ok {
		return Presented{}, false, nil
	}
	if p.Alive, err = f.isAlive(ctx, c, p.Grant, generation); err != nil {
		return Presented{}, false, err
	}
	p.Ends = f.recordExpires(p.Grant).Add(-f.Access)
	return p, true, nil
}

// isAlive reports whether the token endpoint would accept the refresh token of this generation
// now.
func (f *Families) isAlive(ctx context.Context, c *oauth.Client, g store.Grant, generation uint64) (bool, error) {
	_, outcome := g.Rotate(generation, f.Now(), f.RefreshGrace, f.RefreshIdle)
	if outcome != store.RotationNext && outcome != store.RotationAgain {
		return false, nil
	}
	err := f.checkEnded(ctx, g.Client, g.Subject, g.Epochs)
	if err == nil && g.Client == c.ID {
		err = f.checkClient(ctx, c, g)
	}
	if errors.As(err, new(*Refusal)) {
		return false, nil
	}
	return err == nil, err
}

// Begin stores a new family until expires and makes room for it among those of its user at its client. Errors are
// *oauth.Error: invalid_grant if the user or the client at the user was ended since the permission.
func (f *Families) Begin(ctx context.Context, g store.Grant, expires time.Time) (created bool, err error) {
	created, err = f.createFamily(ctx, g, expires)
	if created {
		err = f.admit(ctx, g)
	}
	return created, refusal.OrUnavailable(err)
}

// End revokes a family: its refresh tokens of every generation and all access tokens. When it returns nil that is
// durable; ended says that the family was alive until then. Errors are technical, and the caller may try again.
func (f *Families) End(ctx context.Context, id string) (ended bool, err error) {
	_, ended, err = f.endFamily(ctx, id)
	return ended, err
}

// Revoked reports whether a family is revoked by its own record, which is ahead of the feed that guards follow. A
// family without a record is not: a record outlives all tokens. Errors are technical.
func (f *Families) Revoked(ctx context.Context, id string) (bool, error) {
	_, g, err := f.readFamily(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return g.Revoked(), err
}
