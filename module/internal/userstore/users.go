// Package userstore is the user directory in the gateway's own store: users, their unique names and their
// passwords. It knows nothing of sessions, grants and tokens: whoever locks or deletes a user or sets a password
// must end those as well (authserver's EndSubject).
package userstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/module/store"
)

// Errors of [Users] that are not technical.
var (
	// ErrNotFound: no user has this ID.
	ErrNotFound = errors.New("no such user")
	// ErrTaken: another user has the name, or one that differs only in letter case.
	ErrTaken = errors.New("the username is already taken by another user")
	// ErrInvalid matches errors about a user's fields or password. Their text says what was expected and never
	// quotes a password.
	ErrInvalid = errors.New("invalid user")
)

// minPassword is the minimum length of a password that is set here, in bytes (NIST SP 800-63B section 5.1.1.2).
// The maximum is [directory.MaxPassword].
const minPassword = 8

// Config is what [New] needs.
type Config struct {
	Store store.Backend
	// Now defaults to time.Now.
	Now func() time.Time
}

// Users is a [directory.Directory] that can be changed. It is safe for concurrent use by any number of nodes.
type Users struct {
	store store.Backend
	now   func() time.Time

	hash func(password string) string // makes a hash
	// common is the cost of a sign-in as an unknown user. It is learnt from samples and from sign-ins.
	common  *password.CommonCost
	samples sampling
	// importHashes is held while the password of an imported user is hashed: one at a time, so that people can sign in.
	importHashes sync.Mutex
}

// New checks the configuration. It does not touch the store.
func New(c Config) (*Users, error) {
	if c.Store == nil {
		return nil, errors.New("userstore: no store")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Users{store: c.Store, now: c.Now, hash: password.Hash, common: password.NewCommonCost(nil)}, nil
}

// Find returns the user with this name, locked or not. Names are compared in normal form C and
// case-sensitively.
func (s *Users) Find(ctx context.Context, username string) (directory.User, bool, error) {
	kept, _, err := s.findByName(ctx, username)
	return foundUser(kept, err)
}

// Lookup implements [directory.Directory].
func (s *Users) Lookup(ctx context.Context, id string) (directory.User, bool, error) {
	kept, _, err := s.readUser(ctx, id)
	return foundUser(kept, err)
}

// foundUser turns an unknown user into a result without an error.
func foundUser(kept store.User, err error) (directory.User, bool, error) {
	if errors.Is(err, ErrNotFound) {
		return directory.User{}, false, nil
	}
	return directoryUser(kept), err == nil, err
}

// List returns up to limit users in the order of their IDs, starting after the given ID ("" for the
// first).
func (s *Users) List(ctx context.Context, after string, limit int) ([]directory.User, error) {
	records, err := s.store.List(ctx, store.KindUser, store.UsersParent, after, limit)
	if err != nil {
		return nil, fmt.Errorf("listing users: %w", err)
	}
	out := make([]directory.User, 0, len(records))
	for _, r := range records {
		var kept store.User
		if err := store.Decode(r.Value, &kept); err != nil {
			return nil, err
		}
		out = append(out, directoryUser(kept))
	}
	return out, nil
}

// readUser returns the user and the record it was read from, or [ErrNotFound].
func (s *Users) readUser(ctx context.Context, id string) (kept store.User, r store.Record, err error) {
	if id == "" || len(id) > directory.MaxID {
		return kept, r, ErrNotFound
	}
	r, err = store.Read(ctx, s.store, store.Key{Kind: store.KindUser, ID: id}, &kept)
	return kept, r, readError("user", err)
}

// readError returns the error of reading a record of a kind: [ErrNotFound], or a technical one.
func readError(kind string, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return ErrNotFound
	case err != nil:
		return fmt.Errorf("reading a %s: %w", kind, err)
	}
	return nil
}

// canonicalName returns the form in which user names are compared and shown.
func canonicalName(username string) string { return norm.NFC.String(username) }

// FoldName returns the key of a name: names that differ only in letter case would be confused by people.
func FoldName(name string) string {
	return norm.NFC.String(cases.Fold().String(canonicalName(name)))
}

// invalidField returns an error about one field that matches [ErrInvalid].
func invalidField(field, format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrInvalid, &directory.FieldError{Field: field, Err: fmt.Errorf(format, args...)})
}

// preparePassword returns a password in the form that is hashed: systems encode the same typed character in
// different ways (RFC 8265 section 4.2.2).
func preparePassword(pass string) (string, error) {
	switch {
	case len(pass) < minPassword:
		return "", invalidField("password", "the password has fewer than %d bytes", minPassword)
	case len(pass) > directory.MaxPassword:
		return "", invalidField("password", "the password has more than %d bytes", directory.MaxPassword)
	case !utf8.ValidString(pass) || strings.Contains(pass, "\x00"):
		return "", invalidField("password", "the password must be UTF-8 without a NUL character")
	}
	composed := norm.NFC.String(pass)
	if len(composed) > directory.MaxPassword {
		return "", invalidField("password", "the password has more than %d bytes in its normal form", directory.MaxPassword)
	}
	return composed, nil
}

// directoryUser returns what other packages may know of a user.
func directoryUser(u store.User) directory.User {
	return directory.User{
		ID: u.ID, Username: u.Username, Name: u.Name, Nickname: u.Nickname, Picture: u.Picture,
		Email: u.Email, Phone: u.Phone, Locked: u.Locked, Claims: u.Claims,
	}
}

// setFields copies the fields that an operator sets.
func setFields(kept *store.User, u directory.User) {
	kept.Name, kept.Nickname, kept.Picture = u.Name, u.Nickname, u.Picture
	kept.Email, kept.Phone, kept.Locked = u.Email, u.Phone, u.Locked
	kept.Claims = maps.Clone(u.Claims)
}

// Interface guard
var _ directory.Directory = (*Users)(nil)
