package clientstore

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse/gatehouse/module/store"
)

var registrationKey = store.Key{Kind: store.KindLedger, ID: "registration"}

// KeepRegistration stores what registered clients may have, while they can register. It still
// applies when they no longer can: a client must not get back what was taken from it.
func (c *Clients) KeepRegistration(ctx context.Context, audience []string) error {
	if c.RegisteredScopes == nil {
		return nil
	}
	var kept store.Registration
	_, err := store.Change(ctx, c.Store, store.Record{Key: registrationKey}, &kept, func(record *store.Record) (bool, error) {
		same := record.Version != 0 && slices.Equal(kept.Scopes, c.RegisteredScopes) && slices.Equal(kept.Audience, audience)
		kept.Scopes, kept.Audience = c.RegisteredScopes, audience
		return !same, nil
	})
	return err
}

// lastRegistration is what registration permitted last, for a client that registered itself
// when nobody can register any more; nil otherwise, and where nothing was kept.
func (c *Clients) lastRegistration(ctx context.Context, k store.Client) (*store.Registration, error) {
	if !k.SelfRegistered || c.RegisteredScopes != nil {
		return nil, nil
	}
	var kept store.Registration
	_, err := store.Read(ctx, c.Store, registrationKey, &kept)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &kept, nil
}
