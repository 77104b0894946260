package grant

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// VariantB has the two grants of that dialect. Codes and refresh tokens of one dialect are not valid in the other.
// It is safe for concurrent use.
type VariantB struct{ codes }

// NewVariantB checks the configuration. Access is the life of the dialect's own access tokens. Refresh tokens neither
// rotate nor end when idle, since its client libraries know neither.
func NewVariantB(c Config) (*VariantB, error) {
	c.RefreshIdle, c.RefreshGrace = 0, 0
	f, err := NewFamilies(c)
	if err != nil {
		return nil, err
	}
	return &VariantB{newCodes(f, store.DialectVariantB, store.DialectVariantB)}, nil
}

// Code is Prepare of [Grant] for the parameter code. Most libraries send no redirect_uri here; if it is sent, it must
// be that of the authorization.
func (g *VariantB) Code(ctx context.Context, r Request) (Pending, error) {
	return g.prepareCode(ctx, r, r.Form.Get("code"), func(code store.Code) error {
		if sent := r.Form.Get("redirect_uri"); sent != "" && sent != code.RedirectURI {
			return errRedirect
		}
		return nil
	})
}

// Refresh is Prepare of [Grant] for the parameter refresh_token. The client need not be authenticated: it is in the
// token's MAC. Commit returns the same token again.
func (g *VariantB) Refresh(ctx context.Context, r Request) (Pending, error) {
	sent := r.Form.Get("refresh_token")
	keys, err := g.Keys(ctx)
	if err != nil {
		return Pending{}, err
	}
	id, _, ok := decodeRefresh(keys, sent, r.Client.ID, g.begins)
	if !ok {
		return Pending{}, g.gone(Unknown)
	}
	record, family, err := g.readFamily(ctx, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return Pending{}, err
	}
	if err := g.checkLiving(ctx, err == nil, family); err != nil {
		return Pending{}, err
	}
	if err := g.checkClient(ctx, r.Client, family); err != nil {
		return Pending{}, err
	}
	scopes := stillAllowed(family.Scopes, r.Client)
	if len(scopes) == 0 {
		return Pending{}, errNoScope
	}
	if err := g.checkUser(ctx, family); err != nil {
		return Pending{}, err
	}
	return pending(family, scopes, func(ctx context.Context) (string, error) {
		return sent, g.touch(ctx, record, family)
	}), nil
}

// checkLiving refuses a family that can no longer be refreshed.
func (g *VariantB) checkLiving(ctx context.Context, found bool, family store.Grant) error {
	switch {
	case !found: // the token is authentic, so the family did exist
		return g.gone(Expired)
	case family.Dialect != g.begins:
		return g.gone(Unknown)
	case family.Revoked():
		return g.gone(Revoked)
	case !g.Now().Before(family.Expires):
		return g.gone(Expired)
	}
	return g.checkEnded(ctx, family.Client, family.Subject, family.Epochs)
}

// touchEvery is the resolution of the time of last use: refreshes at the same moment need not all write it.
const touchEvery = time.Second

// touch records that the family was just used: the end of a family is sent to guards only while it can have a
// live access token.
func (g *VariantB) touch(ctx context.Context, record store.Record, family store.Grant) error {
	checked := true // as it was read
	_, err := store.ChangeFrom(ctx, g.Store, record, &family, func(record *store.Record) (bool, error) {
		if !checked {
			if err := g.checkLiving(ctx, record.Version != 0, family); err != nil {
				return false, err
			}
		}
		checked = false
		now := g.Now()
		if now.Sub(family.RotatedAt) < touchEvery {
			return false, nil
		}
		family.RotatedAt = now
		record.Expires = g.recordExpires(family)
		return true, nil
	})
	return err
}
