package userstore

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"strings"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/module/store"
)

// Imported is a user of another program. An ID is kept, so that the subjects of tokens stay the same; without one, one
// is made. At most one of Password and Hash is not empty. Without either nobody can sign in as the user until a
// password is set.
type Imported struct {
	User     directory.User
	Password string // in plain
	Hash     string // in a form of package password; one that begins with ! or * (Django, shadow) stands for no password
}

// Outcome is what an import did, or would do, to a user.
type Outcome int

// The outcomes of an import.
const (
	Created Outcome = iota
	Present         // the user was there and is as before
	Updated
	UpdatedAndLocked // the caller must end what was granted (authserver's EndSubject)
)

// ImportMode says what to do beside creating users.
type ImportMode struct {
	DryRun bool // change nothing
	Update bool // change the fields of users who are there
}

// Import adds a user of another program, or updates the one of the same name (and, if there is one, the same ID). An
// update replaces the fields and claims that in has. It never unlocks a user, and it gives a password only to a user who
// has none: others may have changed theirs here since. Errors that are not technical are [ErrTaken] or match
// [ErrInvalid].
func (s *Users) Import(ctx context.Context, in Imported, mode ImportMode) (id string, done Outcome, err error) {
	in.User.Username = canonicalName(in.User.Username)
	checked := in.User
	if checked.ID == "" {
		checked.ID = newID()
	}
	if err := checkUser(checked); err != nil {
		return "", 0, err
	}
	if err := in.checkPassword(); err != nil {
		return "", 0, err
	}
	there, found, err := s.findImported(ctx, in.User.ID, in.User.Username)
	switch {
	case err != nil:
		return "", 0, err
	case found:
		done, err = s.updateImported(ctx, there, in, mode)
		return there.ID, done, err
	case mode.DryRun:
		return "", Created, nil
	}
	hash := s.importedHash(in)
	if err = s.createUser(ctx, checked, hash); errors.Is(err, store.ErrExists) {
		return checked.ID, Present, s.undoClaim(ctx, checked)
	}
	if parsed, bad := password.Parse(hash); err == nil && bad == nil {
		s.common.Record(checked.ID, parsed.Cost())
	}
	return checked.ID, Created, err
}

// checkPassword checks the password or the hash, and removes a hash that stands for none.
func (in *Imported) checkPassword() (err error) {
	if strings.HasPrefix(in.Hash, "!") || strings.HasPrefix(in.Hash, "*") {
		in.Hash = ""
	}
	switch {
	case in.Hash != "" && in.Password != "":
		return invalidField("password", "there is a password_hash, too: expected one of them")
	case in.Hash != "":
		if _, err := password.Parse(in.Hash); err != nil {
			return invalidField("password_hash", "the password_hash %w", err)
		}
	case in.Password != "":
		if in.Password, err = preparePassword(in.Password); err != nil {
			return err
		}
		// As a password it would let in whoever has seen the hashes.
		if _, err := password.Parse(in.Password); err == nil {
			return invalidField("password", "the password is a hash: expected it as password_hash")
		}
	}
	return nil
}

// importedHash makes the hash of a password, or returns the one that is there.
func (s *Users) importedHash(in Imported) string {
	if in.Password == "" {
		return in.Hash
	}
	s.importHashes.Lock()
	defer s.importHashes.Unlock()
	return s.hash(in.Password)
}

// findImported finds the user whom a line of an import means. Nobody else may have the ID or the name.
func (s *Users) findImported(ctx context.Context, id, name string) (kept store.User, found bool, err error) {
	if id != "" {
		switch kept, _, err = s.readUser(ctx, id); {
		case err == nil && kept.Username != name:
			return kept, false, invalidField("id", "the id is that of a user with another username")
		case err == nil:
			return kept, true, nil
		case !errors.Is(err, ErrNotFound):
			return kept, false, err
		}
	}
	claim, _, err := s.readClaim(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound):
		return kept, false, nil
	case err != nil:
		return kept, false, err
	}
	switch kept, _, err = s.readUser(ctx, claim.ID); {
	case errors.Is(err, ErrNotFound) && claim.ID != id && s.now().Sub(claim.ClaimedAt) < orphaned:
		return kept, false, invalidField("username", "a user of this name was being made a moment ago: import it again in a minute")
	case errors.Is(err, ErrNotFound):
		return kept, false, nil
	case err != nil:
		return kept, false, err
	case kept.Username != name:
		return kept, false, invalidField("username", "the username is that of another user in other letter case")
	case id != "" && kept.ID != id: // the same ID: another import has made the user since the first read
		return kept, false, invalidField("username", "the username is that of a user with another id")
	}
	return kept, true, nil
}

// undoClaim releases the name of a user whose ID somebody else has got meanwhile. It returns nil if another import has
// made this very user.
func (s *Users) undoClaim(ctx context.Context, u directory.User) error {
	if kept, _, err := s.readUser(ctx, u.ID); err != nil || kept.Username == u.Username {
		return err
	}
	if err := s.releaseName(ctx, u.Username, u.ID); err != nil {
		return err
	}
	return invalidField("id", "the id is that of a user with another username")
}

// updateImported changes the fields of a user whom an import has found.
func (s *Users) updateImported(ctx context.Context, kept store.User, in Imported, mode ImportMode) (Outcome, error) {
	lacksPassword := kept.PasswordHash == "" && in.Hash+in.Password != ""
	before := directoryUser(kept)
	after := merged(before, in.User)
	if !mode.Update || !lacksPassword && reflect.DeepEqual(before, after) {
		return Present, nil
	}
	if err := checkUser(after); err != nil { // the claims together may be too long
		return 0, err
	}
	hash := ""
	if lacksPassword && !mode.DryRun {
		hash = s.importedHash(in)
	}
	done := Updated
	if after.Locked && !before.Locked {
		done = UpdatedAndLocked
	}
	if mode.DryRun {
		return done, nil
	}
	return done, s.changeUser(ctx, kept.ID, func(kept *store.User) error {
		u := merged(directoryUser(*kept), in.User)
		if err := checkUser(u); err != nil {
			return err
		}
		setFields(kept, u)
		if kept.PasswordHash == "" {
			kept.PasswordHash = hash
		}
		return nil
	})
}

// merged returns a user with the fields and claims that another has.
func merged(u, given directory.User) directory.User {
	to := u.Texts()
	for name, text := range given.Texts() {
		if *text != "" {
			*to[name] = *text
		}
	}
	u.Locked = u.Locked || given.Locked
	if len(given.Claims) > 0 {
		claims := maps.Clone(u.Claims)
		if claims == nil {
			claims = make(map[string]any)
		}
		maps.Copy(claims, given.Claims)
		u.Claims = claims
	}
	return u
}
