package file

import (
	"context"
	"time"

	"go.uber.org/zap"
	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
)

// dir is an open directory. It belongs to no configuration.
type dir struct{ current *current }

func openDirectory(path string, now func() time.Time, log func() *zap.Logger) (*dir, error) {
	c, err := loadFile(path, now, log)
	if err != nil {
		return nil, err
	}
	return &dir{c}, nil
}

// Identify implements [directory.Directory].
func (d *dir) Identify(ctx context.Context, username string) (string, bool, error) {
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	name, ok := directory.Typed(username)
	if !ok {
		return "", false, nil
	}
	e, known := d.current.currentUsers().byName[name]
	if !known {
		return "", false, nil
	}
	return e.user.ID, true, nil
}

// Authenticate implements [directory.Directory].
func (d *dir) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	if len(password) > directory.MaxPassword {
		return directory.User{}, false, nil
	}
	if err := ctx.Err(); err != nil {
		return directory.User{}, false, err
	}
	all := d.current.currentUsers()
	e := all.unknown
	if name, ok := directory.Typed(username); ok {
		if found, ok := all.byName[name]; ok {
			e = found
		}
	}
	// Systems type one character in different ways; `caddy gatehouse user hash` hashes
	// the composed form too (RFC 8265 section 4.2.2).
	typed := norm.NFC.String(password)
	same := e.pass.Matches(typed)
	if e.pass.Cost().Quick() {
		all.unknown.pass.Matches(typed) // so that it takes as long as any other
	}
	if !same || e == all.unknown || e.user.Locked || password == "" {
		return directory.User{}, false, nil
	}
	return e.user.Clone(), true, nil
}

// Lookup implements [directory.Directory].
func (d *dir) Lookup(_ context.Context, id string) (directory.User, bool, error) {
	e, ok := d.current.currentUsers().byID[id]
	if !ok {
		return directory.User{}, false, nil
	}
	return e.user.Clone(), true, nil
}

// Withdrawn reports whether the user with this ID is locked or not in the file. It
// never waits, so that guards can ask for every request.
func (d *dir) Withdrawn(_ context.Context, id string) (bool, error) {
	e, ok := d.current.currentUsers().byID[id]
	return !ok || e.user.Locked, nil
}

// Interface guard
var _ directory.Directory = (*dir)(nil)
