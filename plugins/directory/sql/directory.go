package sql

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"go.uber.org/zap"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/password"
)

// dir is an open directory. It belongs to no configuration.
type dir struct {
	s      *settings
	db     *sql.DB
	log    *zap.Logger
	common *password.CommonCost
}

func openDirectory(s *settings, log *zap.Logger) *dir {
	db := sql.OpenDB(s.connector)
	db.SetMaxOpenConns(s.connections)
	db.SetMaxIdleConns(s.connections)
	db.SetConnMaxIdleTime(idleTime)
	return &dir{s: s, db: db, log: log, common: password.NewCommonCost(s.dummy)}
}

// Close ends all connections.
func (d *dir) Close() error { return d.db.Close() }

// Identify implements [directory.Directory], by the query that Authenticate makes too.
func (d *dir) Identify(ctx context.Context, username string) (string, bool, error) {
	r, err := d.findByName(ctx, username)
	if err != nil || r == nil {
		return "", false, err
	}
	return r.user.ID, true, nil
}

// Authenticate implements [directory.Directory].
func (d *dir) Authenticate(ctx context.Context, username, pass string) (directory.User, bool, error) {
	if len(pass) > directory.MaxPassword {
		return directory.User{}, false, nil
	}
	if err := ctx.Err(); err != nil {
		return directory.User{}, false, err
	}
	r, err := d.findByName(ctx, username)
	if err != nil {
		return directory.User{}, false, err
	}
	typed := norm.NFC.String(pass)
	kept, same := d.checkPassword(r, typed)
	if r == nil || !same || r.user.Locked || pass == "" {
		return directory.User{}, false, nil
	}
	d.upgradeHash(ctx, r, kept, typed)
	return r.user, true, nil
}

// findByName returns the row of what was typed, or nil.
func (d *dir) findByName(ctx context.Context, username string) (*row, error) {
	name, ok := directory.Typed(username)
	if !ok {
		return nil, nil
	}
	r, err := d.readRow(ctx, d.s.query, name)
	if err != nil || r == nil || !r.isRowOf(name) {
		return nil, err
	}
	return r, nil
}

// checkPassword compares a password with what the row says, and takes the same time whether
// there is a row or not. kept is nil when there is nothing to compare with.
func (d *dir) checkPassword(r *row, typed string) (kept *password.Parsed, same bool) {
	dummy := d.common.Dummy()
	if r != nil {
		kept = d.parseHash(r)
	}
	switch {
	case kept == nil:
		dummy.Matches(typed)
	case kept.Cost().Quick():
		same = kept.Matches(typed)
		dummy.Matches(typed)
	default:
		same = kept.Matches(typed)
		d.common.Record(r.user.ID, kept.Cost())
	}
	return kept, same
}

// parseHash is nil for a user who has no password, or one that nobody can check.
func (d *dir) parseHash(r *row) *password.Parsed {
	if r.hash == "" {
		return nil
	}
	kept, err := password.Parse(r.hash)
	if err != nil && !strings.HasPrefix(r.hash, "$") && !strings.HasPrefix(r.hash, "{") {
		kept, err = d.s.scheme.Parse(r.hash, r.salt)
	}
	if err != nil {
		d.log.Warn("a user cannot sign in: what is kept for a password hash "+err.Error(), zap.String("subject", r.user.ID))
		return nil
	}
	return kept
}

// Lookup implements [directory.Directory].
func (d *dir) Lookup(ctx context.Context, id string) (directory.User, bool, error) {
	if directory.CheckID(id) != nil {
		return directory.User{}, false, nil
	}
	r, err := d.readRow(ctx, d.s.lookup, id)
	// A database that compares texts with numbers finds 7 for "7x".
	if err != nil || r == nil || r.user.ID != id {
		return directory.User{}, false, err
	}
	return r.user, true, nil
}

// isRowOf reports whether the row is the one of what was typed. Databases compare more
// loosely than people: accents, trailing spaces, digits in front of letters. Each spelling
// that finds the user would give a guesser a count of failures of its own.
func (r *row) isRowOf(typed string) bool {
	want := looseName(typed)
	return slices.ContainsFunc([]string{r.user.Username, r.user.Email, r.user.Phone}, func(name string) bool {
		return name != "" && looseName(name) == want
	})
}

func looseName(name string) string { return cases.Fold().String(norm.NFKC.String(name)) }

// Interface guard
var _ directory.Directory = (*dir)(nil)
