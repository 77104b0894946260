package userstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// orphaned is the age at which a claimed name without a user counts as left behind by a crash: longer than
// creating a user takes.
const orphaned = time.Minute

// readClaim returns the claim of a canonical name, or [ErrNotFound].
func (s *Users) readClaim(ctx context.Context, name string) (c store.Username, r store.Record, err error) {
	key := FoldName(name)
	if key == "" || len(key) > store.MaxKeyLength {
		return c, r, ErrNotFound
	}
	r, err = store.Read(ctx, s.store, store.Key{Kind: store.KindUsername, ID: key}, &c)
	return c, r, readError("username", err)
}

// claimName claims a name for an ID, or returns [ErrTaken]. It may be claimed for that ID already. A claim without a user, left by a crash, is taken over
// once it is old.
func (s *Users) claimName(ctx context.Context, name, id string) error {
	claim := &store.Username{ID: id, ClaimedAt: s.now()}
	key := store.Key{Kind: store.KindUsername, ID: FoldName(name)}
	_, err := store.Create(ctx, s.store, store.Record{Key: key}, claim)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, store.ErrExists):
		return fmt.Errorf("claiming a user name: %w", err)
	}
	other, r, err := s.readClaim(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound):
		return ErrTaken // it was just released
	case err != nil:
		return err
	case other.ID == id:
		return nil // by an import that was broken off
	case s.now().Sub(other.ClaimedAt) < orphaned:
		return ErrTaken
	}
	switch _, _, err := s.readUser(ctx, other.ID); {
	case err == nil:
		return ErrTaken
	case !errors.Is(err, ErrNotFound):
		return err
	}
	r.Expires = time.Time{}
	switch _, err := store.Swap(ctx, s.store, r, claim); {
	case store.IsAnswer(err):
		return ErrTaken
	case err != nil:
		return fmt.Errorf("claiming a user name: %w", err)
	}
	return nil
}

// releaseName gives up the claim on a name if it belongs to this ID. It lets the record expire instead of deleting
// it: a deletion has no version and might hit the claim of another user who has just claimed the name.
func (s *Users) releaseName(ctx context.Context, name, id string) error {
	c, r, err := s.readClaim(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && c.ID != id:
		return nil
	case err != nil:
		return err
	}
	r.Expires = s.now()
	_, err = s.store.Swap(ctx, r)
	if err != nil && !store.IsAnswer(err) {
		return fmt.Errorf("releasing a username: %w", err)
	}
	return nil
}
