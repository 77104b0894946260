package userstore

import (
	"context"
	"errors"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/module/store"
)

// upgradeTimeout bounds what replacing a hash may add to a sign-in.
const upgradeTimeout = time.Second

// Identify implements [directory.Directory].
func (s *Users) Identify(ctx context.Context, username string) (string, bool, error) {
	if len(username) > maxTyped {
		return "", false, nil
	}
	c, _, err := s.readClaim(ctx, canonicalName(username))
	if errors.Is(err, ErrNotFound) {
		return "", false, nil
	}
	return c.ID, err == nil, err
}

// Authenticate implements [directory.Directory]. It also replaces an outdated hash.
func (s *Users) Authenticate(ctx context.Context, username, pass string) (directory.User, bool, error) {
	if len(pass) > directory.MaxPassword {
		return directory.User{}, false, nil
	}
	if err := ctx.Err(); err != nil {
		return directory.User{}, false, err
	}
	kept, record, err := s.findByName(ctx, username)
	known := err == nil
	if err != nil && !errors.Is(err, ErrNotFound) {
		return directory.User{}, false, err
	}
	var parsed *password.Parsed
	if known && kept.PasswordHash != "" {
		if parsed, err = password.Parse(kept.PasswordHash); err != nil {
			return directory.User{}, false, errors.New("userstore: the hash of a user's password is damaged")
		}
	}
	s.sampleCosts(ctx)
	typed := norm.NFC.String(pass)
	if !s.matches(kept.ID, parsed, typed) || kept.Locked || pass == "" {
		return directory.User{}, false, nil
	}
	if parsed.Outdated() {
		s.upgradeHash(ctx, kept, record, typed)
	}
	return directoryUser(kept), true, nil
}

// matches compares a password with the hash of a user, and takes the same time without a user or without a hash (nil).
func (s *Users) matches(id string, parsed *password.Parsed, typed string) bool {
	dummy := s.common.Dummy()
	if parsed == nil {
		dummy.Matches(typed)
		return false
	}
	same := parsed.Matches(typed)
	if parsed.Cost().Quick() {
		dummy.Matches(typed)
	}
	s.common.Record(id, parsed.Cost())
	return same
}

// maxTyped is the longest name that is looked up, in bytes, so that strangers cannot make the gateway
// normalize megabytes.
const maxTyped = 4 * directory.MaxUsername

// findByName finds the user with a name, which an attacker may have typed: an unknown name costs as many reads of
// the store as a known one.
func (s *Users) findByName(ctx context.Context, username string) (store.User, store.Record, error) {
	if len(username) > maxTyped {
		return store.User{}, store.Record{}, ErrNotFound
	}
	name := canonicalName(username)
	c, _, err := s.readClaim(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound):
		c.ID = newID()
	case err != nil:
		return store.User{}, store.Record{}, err
	}
	kept, r, err := s.readUser(ctx, c.ID)
	if err == nil && kept.Username != name {
		err = ErrNotFound
	}
	return kept, r, err
}

// upgradeHash stores a better hash of the password that was just verified, unless the user has changed since it was
// read. If that fails, the next sign-in tries again.
func (s *Users) upgradeHash(ctx context.Context, kept store.User, record store.Record, pass string) {
	ctx, cancel := context.WithTimeout(ctx, upgradeTimeout)
	defer cancel()
	kept.PasswordHash = s.hash(pass)
	_, _ = store.Swap(ctx, s.store, record, &kept)
}
