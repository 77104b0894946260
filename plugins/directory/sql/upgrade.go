package sql

import (
	"context"
	"database/sql"
	"errors"

	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/directory/password"
)

// upgradeHash replaces an outdated hash of a user whose password was just proven right.
// Whatever goes wrong, the user is signed in and the next sign-in tries again.
func (d *dir) upgradeHash(ctx context.Context, r *row, kept *password.Parsed, typed string) {
	if !d.s.needsUpgrade(kept) {
		return
	}
	hash := ""
	if d.s.bcrypt {
		var ok bool
		if hash, ok = password.HashBcrypt(typed); !ok {
			return // bcrypt would not hold this password whole
		}
	} else {
		hash = password.Hash(typed)
	}
	ctx, cancel := context.WithTimeout(ctx, d.s.timeout)
	defer cancel()
	if err := d.replaceHash(ctx, r, hash); err != nil && !errors.Is(err, errChanged) {
		d.log.Warn("a password hash was not upgraded", zap.String("subject", r.user.ID), zap.Error(queryError(ctx, err)))
	}
}

// needsUpgrade reports whether a hash is to be replaced.
func (s *settings) needsUpgrade(kept *password.Parsed) bool {
	return s.upgrade != "" && kept.Outdated() && !(s.bcrypt && kept.GoodBcrypt())
}

var errChanged = errors.New("the password was changed meanwhile")

// replaceHash writes a hash if the row still has the one that was read, and reads it back: a
// column too narrow for it may have cut it short (MySQL outside of its strict mode), and
// would keep the user out. The transaction is serializable, so that a password set at the
// same time wins. Tables without transactions (MyISAM) get the old hash back.
func (d *dir) replaceHash(ctx context.Context, r *row, hash string) error {
	tx, err := d.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	now, err := onlyRow(ctx, tx, d.s.query, r.asked)
	if err != nil {
		return err
	}
	if now == nil || now.user.ID != r.user.ID || now.hash != r.hash {
		return errChanged
	}
	done, err := tx.ExecContext(ctx, d.s.upgrade, hash, r.user.ID)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		return mistake("the upgrade changes more or fewer rows than one: look at its WHERE")
	}
	now, err = onlyRow(ctx, tx, d.s.query, r.asked)
	if err != nil {
		return err
	}
	if now == nil || now.hash != hash {
		if _, err := tx.ExecContext(ctx, d.s.upgrade, r.hash, r.user.ID); err != nil {
			return err
		}
		return mistake("the column of the password does not hold the new hash whole: make it wider (255 characters)")
	}
	return tx.Commit()
}
