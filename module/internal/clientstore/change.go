package clientstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// MaxOverlap is how long a replaced secret may stay valid at most.
const MaxOverlap = 90 * 24 * time.Hour

// maxRecord is the size limit of one client in the store, in bytes: the number of addresses and names is not limited.
const maxRecord = 64 << 10

// Create stores a client and returns it with its secret of 256 random bits, which is stored as a
// hash and cannot be shown again. Public clients and those with keys have none.
func (c *Clients) Create(ctx context.Context, d Definition) (Definition, string, error) {
	if d.ID == "" {
		d.ID = newID()
	}
	k, value, err := c.newRecord(d, store.Client{Client: oauth.Client{ID: d.ID}, Created: c.Now()})
	if err != nil {
		return Definition{}, "", err
	}
	if c.Taken(k.ID) {
		return Definition{}, "", ErrExists
	}
	if err := c.createRecord(ctx, k, store.ClientParent); err != nil {
		return Definition{}, "", err
	}
	return c.definitionOf(k), value, nil
}

// newRecord makes the record of a new client, with its secret unless it has keys or is public.
func (c *Clients) newRecord(d Definition, k store.Client) (_ store.Client, value string, err error) {
	k.Public = d.Public
	if !d.Public && d.JWKS == "" {
		value = secret.Token()
		k = k.Rotate(secret.Digest(value), k.Created, 0)
	}
	k, err = c.applyDefinition(d, k)
	return k, value, err
}

// newID makes an id that no command line takes for an option.
func newID() string { return "c-" + secret.ID() }

func (c *Clients) createRecord(ctx context.Context, k store.Client, parent string) error {
	value, err := encodeClient(k)
	if err == nil {
		err = c.addTerms(ctx, k, nil)
	}
	if err != nil {
		return err
	}
	_, err = c.Store.Create(ctx, store.Record{Key: clientKey(k.ID), Parent: parent, Value: value, Expires: k.UnusedUntil})
	if errors.Is(err, store.ErrExists) {
		return ErrExists
	}
	return err
}

func encodeClient(k store.Client) ([]byte, error) {
	value, err := store.Encode(&k)
	if err == nil && len(value) > maxRecord {
		return nil, invalid(fmt.Errorf("the client takes %d bytes, at most %d are stored", len(value), maxRecord))
	}
	return value, err
}

// Update changes a client. change is called with the present definition, once for each try; its
// changes to read-only parts of a [Definition] are ignored.
func (c *Clients) Update(ctx context.Context, id string, change func(*Definition) error) error {
	_, err := c.changeRecord(ctx, id, func(k store.Client) (store.Client, error) {
		d := c.definitionOf(k)
		d.Scopes, d.DefaultScopes = slices.Clone(d.Scopes), slices.Clone(d.DefaultScopes) // compared with k's below
		if err := change(&d); err != nil {
			return k, err
		}
		if d.ID != k.ID || d.Public != k.Public || d.VariantB != k.VariantB {
			return k, invalid(errors.New("id, public and variant_b never change: make another client"), "id")
		}
		if k.SelfRegistered && !(slices.Equal(d.Scopes, k.Scopes) && slices.Equal(d.DefaultScopes, k.DefaultScopes)) {
			k.ScopeLimit = append(append([]string{}, d.Scopes...), d.DefaultScopes...)
		}
		return c.applyDefinition(d, k)
	})
	return err
}

// RotateSecret gives the client another secret and returns it. The present ones stay valid for
// overlap, from 0 to [MaxOverlap].
func (c *Clients) RotateSecret(ctx context.Context, id string, overlap time.Duration) (string, error) {
	if overlap < 0 || overlap > MaxOverlap {
		return "", invalid(fmt.Errorf("the overlap must be from 0 to %v", MaxOverlap), "overlap")
	}
	value := secret.Token()
	_, err := c.changeRecord(ctx, id, func(k store.Client) (store.Client, error) {
		switch {
		case k.Public:
			return k, invalid(errors.New("a public client has no secret"), "public")
		case k.AuthMethod == oauth.PrivateKeyJWT:
			return k, invalid(errors.New("the client authenticates by private_key_jwt and has no secret"), "auth_method")
		}
		return k.Rotate(secret.Digest(value), c.Now(), overlap), nil
	})
	if err != nil {
		return "", err
	}
	return value, nil
}

// Delete removes a client and revokes its access tokens; refresh tokens and codes are void without it. Tokens are
// revoked first: if that fails, nothing has happened. They are revoked again afterwards, for those issued in between.
// If the second time fails, the client is gone all the same, and guards refuse the tokens of unknown clients.
// ErrNotFound is returned only if no failover of the store can bring the client back.
func (c *Clients) Delete(ctx context.Context, id string) error {
	_, k, err := c.readRecord(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return cmp.Or(confirmRecord(ctx, c.Store, id), err)
	}
	if err != nil {
		return err
	}
	lost, err := c.lostTerms(ctx, k, store.Client{})
	if err != nil {
		return err
	}
	if err := c.revokeTokens(ctx, id); err != nil {
		return err
	}
	if err := c.Store.Delete(ctx, clientKey(id)); err != nil {
		return err
	}
	c.dropTerms(ctx, lost)
	return c.revokeTokens(ctx, id)
}

// confirmRecord returns nil if no failover of the store undoes what was read of a client.
func confirmRecord(ctx context.Context, s store.Backend, id string) error {
	if !oauth.ValidClientID(id) {
		return nil
	}
	return store.Confirm(ctx, s, clientKey(id))
}

// revokeTokens ignores the id of a configured client, which a stored one may have had before.
func (c *Clients) revokeTokens(ctx context.Context, id string) error {
	if c.Taken(id) {
		return nil
	}
	return c.Revocations.Revoke(ctx, store.Revocation{Of: store.RevokeClient, Value: id, At: c.Now()})
}

// changeRecord changes the record of a client.
func (c *Clients) changeRecord(ctx context.Context, id string, change func(store.Client) (store.Client, error)) (store.Client, error) {
	var k store.Client
	if !oauth.ValidClientID(id) {
		return k, ErrNotFound
	}
	var lost []store.Record
	_, err := store.Change(ctx, c.Store, store.Record{Key: clientKey(id)}, &k, func(record *store.Record) (_ bool, err error) {
		if record.Version == 0 {
			return false, ErrNotFound
		}
		before := k
		k.Secrets = slices.Clone(k.Secrets)
		if k, err = change(k); err != nil {
			return false, err
		}
		if record.Value, err = encodeClient(k); err != nil {
			return false, err
		}
		record.Expires = k.UnusedUntil
		if lost, err = c.lostTerms(ctx, before, k); err != nil {
			return false, err
		}
		return true, c.addTerms(ctx, k, &before)
	})
	if err == nil {
		c.dropTerms(ctx, lost)
	}
	return k, err
}
