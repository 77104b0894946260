package userstore

import (
	"context"
	"errors"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// upgradePatience bounds what a better hash may add to a sign-in.
const upgradePatience = time.Second

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

// Authenticate implements [directory.Directory]. A hash that is out of date is replaced
// by the way.
func (s *Users) Authenticate(ctx context.Context, username, pass string) (directory.User, bool, error) {
	if len(pass) > directory.MaxPassword {
		return directory.User{}, false, nil
	}
	if err := ctx.Err(); err != nil {
		return directory.User{}, false, err
	}
	kept, record, err := s.findTyped(ctx, username)
	known := err == nil
	if err != nil && !errors.Is(err, ErrNotFound) {
		return directory.User{}, false, err
	}
	parsed := s.unknown
	if known {
		if parsed, err = password.Parse(kept.PasswordHash); err != nil {
			return directory.User{}, false, errors.New("userstore: the hash of a user's password is damaged")
		}
	}
	typed := norm.NFC.String(pass)
	if !parsed.Matches(typed) || !known || kept.Locked || pass == "" {
		return directory.User{}, false, nil
	}
	if parsed.Outdated() {
		s.upgradeHash(ctx, kept, record, typed)
	}
	return directoryUser(kept), true, nil
}

// maxTyped is the longest name that is looked up, in bytes: normalizing one of many
// megabytes would be free work for a stranger.
const maxTyped = 4 * directory.MaxUsername

// findTyped finds the user of a name that a stranger typed. An unknown name costs as many
// reads of the store as a known one.
func (s *Users) findTyped(ctx context.Context, username string) (store.User, store.Record, error) {
	if len(username) > maxTyped {
		return store.User{}, store.Record{}, ErrNotFound
	}
	name := canonicalName(username)
	c, _, err := s.readClaim(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound):
		c.ID = "u-" + secret.ID()
	case err != nil:
		return store.User{}, store.Record{}, err
	}
	kept, r, err := s.readUser(ctx, c.ID)
	if err == nil && kept.Username != name {
		err = ErrNotFound
	}
	return kept, r, err
}

// upgradeHash keeps a better hash of the password that was just proven right. It does so by
// the version that was read: a password set meanwhile stays. Whatever fails, the next
// sign-in tries again.
func (s *Users) upgradeHash(ctx context.Context, kept store.User, record store.Record, pass string) {
	ctx, cancel := context.WithTimeout(ctx, upgradePatience)
	defer cancel()
	kept.PasswordHash = s.hash(pass)
	if value, err := store.Encode(&kept); err == nil {
		record.Value = value
		_, _ = s.store.Swap(ctx, record)
	}
}
