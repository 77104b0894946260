package userstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/store"
)

// maxClaims bounds a user's additional attributes, in bytes of JSON.
const maxClaims = 16 << 10

// Create adds a user with a password (8 to 1,024 bytes of UTF-8) and returns the user with a new ID: 128 random
// bits, never reused. Errors that are not technical are [ErrTaken] or match [ErrInvalid]. u.ID is ignored.
func (s *Users) Create(ctx context.Context, u directory.User, pass string) (directory.User, error) {
	composed, err := preparePassword(pass)
	if err != nil {
		return directory.User{}, err
	}
	u.ID = newID()
	u.Username = canonicalName(u.Username)
	if err := checkUser(u); err != nil {
		return directory.User{}, err
	}
	return u, s.createUser(ctx, u, s.hash(composed))
}

// createUser claims the name first. A crash after that leaves a claim without a user, which is taken over when
// the name is next wanted.
func (s *Users) createUser(ctx context.Context, u directory.User, hash string) error {
	if err := s.claimName(ctx, u.Username, u.ID); err != nil {
		return err
	}
	now := s.now()
	kept := store.User{ID: u.ID, Username: u.Username, PasswordHash: hash, CreatedAt: now, ChangedAt: now}
	setFields(&kept, u)
	key := store.Key{Kind: store.KindUser, ID: u.ID}
	if _, err := store.Create(ctx, s.store, store.Record{Key: key, Parent: store.UsersParent}, &kept); err != nil {
		return fmt.Errorf("writing a user: %w", err)
	}
	// If creating the user took this long, the claim may have been taken over meanwhile. Then the name, and with it
	// the right to sign in, belongs to the other user.
	switch c, _, err := s.readClaim(ctx, u.Username); {
	case err == nil && c.ID == u.ID:
		return nil
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	}
	if err := s.store.Delete(ctx, key); err != nil {
		return fmt.Errorf("undoing the creation of a user: %w", err)
	}
	return ErrTaken
}

// SetPassword replaces a user's password. The caller must end what was granted with the old one: sessions, grants
// and tokens (authserver's EndSubject).
func (s *Users) SetPassword(ctx context.Context, id, pass string) error {
	composed, err := preparePassword(pass)
	if err != nil {
		return err
	}
	hash := s.hash(composed)
	return s.changeUser(ctx, id, func(kept *store.User) error {
		kept.PasswordHash = hash
		return nil
	})
}

// SetLocked locks or unlocks a user. A locked user can neither sign in nor refresh tokens. After locking, the caller
// must end what is still valid (authserver's EndSubject).
func (s *Users) SetLocked(ctx context.Context, id string, locked bool) error {
	return s.changeUser(ctx, id, func(kept *store.User) error {
		kept.Locked = locked
		return nil
	})
}

// Update changes a user's fields other than ID and Username. change may be called more than once; its error is
// returned.
func (s *Users) Update(ctx context.Context, id string, change func(*directory.User) error) error {
	return s.changeUser(ctx, id, func(kept *store.User) error {
		u := directoryUser(*kept)
		if err := change(&u); err != nil {
			return err
		}
		if u.ID != kept.ID || u.Username != kept.Username {
			return fmt.Errorf("%w: id and username cannot be changed", ErrInvalid)
		}
		if err := checkUser(u); err != nil {
			return err
		}
		setFields(kept, u)
		return nil
	})
}

// Delete removes a user and releases the name; the ID is never reused. The caller must end what was granted
// (authserver's EndSubject). The user is deleted first: a crash in between leaves a name without a user, which the
// next user may claim.
func (s *Users) Delete(ctx context.Context, id string) error {
	kept, _, err := s.readUser(ctx, id)
	if err != nil {
		return err
	}
	if err := s.store.Delete(ctx, store.Key{Kind: store.KindUser, ID: id}); err != nil {
		return fmt.Errorf("deleting a user: %w", err)
	}
	return s.releaseName(ctx, kept.Username, id)
}

// ConfirmGone returns nil if there is no user of this id or name, and no failover of the store can bring one back. It is
// called when none was found.
func (s *Users) ConfirmGone(ctx context.Context, name string) error {
	keys := []store.Key{{Kind: store.KindUser, ID: name}}
	claim, _, err := s.readClaim(ctx, name)
	switch {
	case err == nil:
		keys = append(keys, store.Key{Kind: store.KindUser, ID: claim.ID})
	case errors.Is(err, ErrNotFound): // the name was released after the user was gone for good
		keys = append(keys, store.Key{Kind: store.KindUsername, ID: FoldName(name)})
	default:
		return err
	}
	for _, key := range keys {
		if key.ID == "" || len(key.ID) > store.MaxKeyLength {
			continue
		}
		if err := store.Confirm(ctx, s.store, key); err != nil {
			return fmt.Errorf("confirming that a user is gone: %w", err)
		}
	}
	return nil
}

func (s *Users) changeUser(ctx context.Context, id string, do func(*store.User) error) error {
	if id == "" || len(id) > directory.MaxID {
		return ErrNotFound
	}
	var kept store.User
	var refused error
	_, err := store.Change(ctx, s.store, store.Record{Key: store.Key{Kind: store.KindUser, ID: id}}, &kept, func(record *store.Record) (bool, error) {
		if refused = ErrNotFound; record.Version != 0 {
			refused = do(&kept)
		}
		kept.ChangedAt = s.now()
		return refused == nil, nil
	})
	if err != nil {
		return fmt.Errorf("writing a user: %w", err)
	}
	return refused
}

func checkUser(u directory.User) error {
	if err := u.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if u.Email != "" && !strings.Contains(u.Email, "@") {
		return invalidField("email", "the email has no @")
	}
	if claims, err := json.Marshal(u.Claims); err != nil || len(claims) > maxClaims {
		return invalidField("claims", "the claims are no JSON, or longer than %d bytes", maxClaims)
	}
	return nil
}
