package grant

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// VariantB is the two grants of the dialect of that name. Their codes and refresh tokens
// are none of OAuth's, nor the reverse. It is safe for concurrent use.
type VariantB struct{ codes }

// NewVariantB checks the configuration. Access is the life of the dialect's own access
// tokens; there is neither idle end nor rotation, which its client libraries do not know.
func NewVariantB(c Config) (*VariantB, error) {
	c.RefreshIdle, c.RefreshGrace = 0, 0
	if err := c.fill(); err != nil {
		return nil, err
	}
	return &VariantB{newCodes(newFamilies(c), store.DialectVariantB, store.DialectVariantB)}, nil
}

// Code is Prepare of [Grant] for the parameter code. Most libraries send no redirect_uri
// here; one that is sent must be that of the authorization.
func (g *VariantB) Code(ctx context.Context, r Request) (Pending, error) {
	return g.present(ctx, r, r.Form.Get("code"), func(code store.Code) error {
		if sent := r.Form.Get("redirect_uri"); sent != "" && sent != code.RedirectURI {
			return errRedirect
		}
		return nil
	})
}

// Refresh is Prepare of [Grant] for the parameter refresh_token. The client need not be
// authenticated: it is in the token's MAC. Commit gives the same token again.
func (g *VariantB) Refresh(ctx context.Context, r Request) (Pending, error) {
	sent := r.Form.Get("refresh_token")
	keys, err := g.keys(ctx)
	if err != nil {
		return Pending{}, err
	}
	id, _, ok := decodeRefresh(keys, sent, r.Client.ID, g.begins)
	if !ok {
		return Pending{}, g.gone(Unknown)
	}
	record, family, err := g.living(ctx, id)
	if err != nil {
		return Pending{}, err
	}
	if left, err := g.clientLeft(ctx, r.Client, family); err != nil {
		return Pending{}, oauth.Unavailable(err)
	} else if left {
		return Pending{}, g.gone(Foreign)
	}
	scopes := stillAllowed(family.Scopes, r.Client)
	if len(scopes) == 0 {
		return Pending{}, errNoScope
	}
	active, err := g.activeUser(ctx, family.Subject)
	if err != nil {
		return Pending{}, err
	}
	if !active {
		return Pending{}, g.kill(ctx, id, errUserGone)
	}
	return Pending{
		Subject: family.Subject, Scopes: scopes, Family: id, Resources: family.Resources,
		AuthTime: family.AuthTime, Session: family.Session, Epochs: family.Epochs,
		Commit: func(ctx context.Context) (string, error) { return sent, g.touch(ctx, record, family) },
	}, nil
}

// living reads a family that can still be refreshed.
func (g *VariantB) living(ctx context.Context, id string) (store.Record, store.Grant, error) {
	record, family, err := g.read(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound): // its token is authentic, so it was there
		return record, family, g.gone(Expired)
	case err != nil:
		return record, family, oauth.Unavailable(err)
	case family.Dialect != g.begins:
		return record, family, g.gone(Unknown)
	case family.Revoked():
		return record, family, g.gone(Revoked)
	case !g.Now().Before(family.Expires):
		return record, family, g.gone(Expired)
	}
	ended, err := g.ended(ctx, family.Client, family.Subject, family.Epochs)
	if err == nil && ended {
		err = g.gone(Revoked)
	}
	return record, family, err
}

// touchEvery is how exactly a family knows when it was last used: refreshes at the same
// moment need not all write it.
const touchEvery = time.Second

// touch records that the family was used just now. Whoever ends a family tells guards of
// it only while it can have a living access token, and this is how they know.
func (g *VariantB) touch(ctx context.Context, record store.Record, family store.Grant) error {
	for range tries {
		now := g.Now()
		if now.Sub(family.RotatedAt) < touchEvery {
			return nil
		}
		family.RotatedAt = now
		switch err := g.swap(ctx, record, family); {
		case err == nil:
			return nil
		case errors.Is(err, store.ErrNotFound):
			return g.gone(Expired)
		case !errors.Is(err, store.ErrConflict):
			return oauth.Unavailable(err)
		}
		var err error
		if record, family, err = g.living(ctx, family.ID); err != nil {
			return err
		}
	}
	return oauth.Unavailable(errContended)
}
