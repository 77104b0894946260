package clientstore

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// MaxRegistered is the most clients that may register themselves: the ledger of their
	// places is one record of bounded size.
	MaxRegistered = 4000
	// unusedLife is how long an unused registration is kept.
	unusedLife = 24 * time.Hour
	// settling is how long a place is reserved for a client without a record, which may still be
	// on its way. A creation times out after half of that.
	settling = time.Minute
)

// Register stores a client that registered itself, under a new id, unless there are limit of them
// already. access is the digest of its registration access token. It returns the client and its
// secret, "" if it has none. Refusals are *oauth.Error.
//
// The place is reserved first: a crash in between costs a place until places run out, and never
// admits one client too many.
func (c *Clients) Register(ctx context.Context, client *oauth.Client, access string, limit int) (*oauth.Client, string, error) {
	now := c.Now()
	k, value, err := c.newRecord(registeredDefinition(client), store.Client{
		Client: oauth.Client{ID: newID()}, Created: now, SelfRegistered: true, AccessHash: access, UnusedUntil: now.Add(unusedLife),
		RegisteredAudience: client.RegisteredAudience,
	})
	if err != nil {
		return nil, "", registrationError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, settling/2)
	defer cancel()
	if err := c.reservePlace(ctx, k.ID, min(limit, MaxRegistered)); err != nil {
		return nil, "", err
	}
	if err := c.createRecord(ctx, k, store.RegisteredParent); err != nil {
		return nil, "", registrationError(err)
	}
	return c.effectiveClient(k, nil), value, nil
}

// registeredDefinition is the part of a client that it may choose itself.
func registeredDefinition(client *oauth.Client) Definition {
	return Definition{Client: oauth.Client{
		Name: client.Name, Public: client.Public, AuthMethod: client.AuthMethod, JWKS: client.JWKS, Native: client.Native,
		RedirectURIs: client.RedirectURIs, PostLogoutRedirectURIs: client.PostLogoutRedirectURIs,
		Grants: client.Grants, Scopes: client.Scopes, DefaultScopes: client.DefaultScopes, IDTokenAlg: client.IDTokenAlg,
	}}
}

// Registered finds a client that registered itself by its id and the digest of its registration access token. ok is
// false unless both are right; it takes the same time whichever is wrong. No failover of the store can bring a client back
// that was not found: whoever repeats a deletion takes that for done.
func (c *Clients) Registered(ctx context.Context, id, access string) (client *oauth.Client, ok bool, err error) {
	_, k, err := c.readRecord(ctx, id)
	missing := errors.Is(err, ErrNotFound)
	if err != nil && !missing {
		return nil, false, err
	}
	if missing || !k.SelfRegistered || k.AccessHash == "" {
		k.AccessHash = secret.Digest("gatehouse: no client has this token")
		missing = true
	}
	if !secret.Equal([]byte(access), []byte(k.AccessHash)) || missing {
		return nil, false, confirmRecord(ctx, c.Store, id)
	}
	return c.effectiveClient(k, nil), true, nil
}

// Reregister replaces the settings that a client chose. Restrictions by an operator stay: its scopes, the audience of
// its tokens, its owner, and that it must always send state. Privileges that an operator granted to the former client
// (no consent page, introspection) are gone. Refusals are *oauth.Error.
func (c *Clients) Reregister(ctx context.Context, id string, client *oauth.Client) (*oauth.Client, error) {
	k, err := c.changeRecord(ctx, id, func(k store.Client) (store.Client, error) {
		if k.Public != client.Public {
			return k, invalid(errors.New("a client that has credentials keeps them, and one without gets none: register another one"))
		}
		if len(k.Secrets) > 0 && client.AuthMethod == oauth.PrivateKeyJWT {
			k.Secrets = nil
		}
		k.RegisteredAudience = client.RegisteredAudience
		d := registeredDefinition(client)
		if k.ScopeLimit != nil {
			d.Scopes = slices.DeleteFunc(slices.Clone(d.Scopes), func(s string) bool { return !slices.Contains(k.ScopeLimit, s) })
			if len(d.Scopes) == 0 {
				return k, invalid(errors.New("scope must hold one or more of those that an operator has left to this client"))
			}
		}
		d.Audience, d.Owner = k.Audience, k.Owner
		if k.RequireState == oauth.StateAlways {
			d.RequireState = k.RequireState
		}
		return c.applyDefinition(d, k)
	})
	if err != nil {
		return nil, registrationError(err)
	}
	return c.effectiveClient(k, nil), nil
}

// Unregister is Delete at the request of the client.
func (c *Clients) Unregister(ctx context.Context, id string) error {
	return registrationError(c.Delete(ctx, id))
}

// registrationError turns errors that are not technical into those of RFC 7591.
func registrationError(err error) error {
	if errors.Is(err, ErrNotFound) {
		return oauth.E(oauth.InvalidToken, "the client is no longer there")
	}
	if bad := (*oauth.FieldError)(nil); errors.As(err, &bad) {
		return oauth.E(oauth.InvalidClientMetadata, bad.Error())
	}
	return err
}

// Used keeps a registration permanently, because somebody uses it. If it is permanent already, Used only reads.
func (c *Clients) Used(ctx context.Context, id string) error {
	_, err := c.changeRecord(ctx, id, func(k store.Client) (store.Client, error) {
		kept, ok := k.Used()
		if !ok {
			return k, errKept
		}
		return kept, nil
	})
	if errors.Is(err, errKept) {
		return nil
	}
	return err
}

var errKept = errors.New("clientstore: the registration is kept already")

// errPlaces has no code in RFC 7591, because nothing is wrong with the request.
var errPlaces = oauth.E(oauth.AccessDenied, "no more clients may register").WithStatus(http.StatusForbidden)

var ledgerKey = store.Key{Kind: store.KindLedger, ID: "registrations"}

// Places returns how many clients that registered themselves have a place. Some may be gone.
func (c *Clients) Places(ctx context.Context) (int, error) {
	var ledger store.RegistrationLedger
	_, err := store.Read(ctx, c.Store, ledgerKey, &ledger)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return len(ledger.Places), err
}

// reservePlace reserves one of limit places for id.
func (c *Clients) reservePlace(ctx context.Context, id string, limit int) error {
	var ledger store.RegistrationLedger
	_, err := store.Change(ctx, c.Store, store.Record{Key: ledgerKey}, &ledger, func(*store.Record) (bool, error) {
		if ledger.Places == nil {
			ledger.Places = make(map[string]int64)
		}
		if len(ledger.Places) >= limit {
			if err := c.freePlaces(ctx, ledger.Places); err != nil {
				return false, err
			}
		}
		if len(ledger.Places) >= limit {
			return false, errPlaces
		}
		ledger.Places[id] = c.Now().Unix()
		return true, nil
	})
	return err
}

// freePlaces frees the places of clients that are gone.
func (c *Clients) freePlaces(ctx context.Context, places map[string]int64) error {
	there := make(map[string]bool)
	for after := ""; ; {
		const page = 100
		records, err := c.Store.List(ctx, store.KindClient, store.RegisteredParent, after, page)
		if err != nil {
			return err
		}
		for _, r := range records {
			there[r.ID] = true
			after = r.ID
		}
		if len(records) < page {
			break
		}
	}
	young := c.Now().Add(-settling).Unix()
	for id, at := range places {
		if !there[id] && at < young {
			delete(places, id)
		}
	}
	return nil
}
