package file

import (
	"context"
	"os"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/gatehouse/gatehouse/module/directory"
)

// dir is an open directory. It belongs to no configuration. Its requests never wait for the file:
// a goroutine looks at it and replaces the users when it has changed.
type dir struct {
	*current
	ctx   context.Context // of that goroutine
	close context.CancelFunc
}

// openDirectory opens the directory of a file that was loaded before, or of one that it loads.
func openDirectory(c *current) *dir {
	d := &dir{current: c}
	d.ctx, d.close = context.WithCancel(context.Background())
	c.warnOfHashes()
	go d.watch()
	return d
}

func (d *dir) watch() {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-tick.C:
			d.checkFile()
		}
	}
}

// Close implements io.Closer.
func (d *dir) Close() error {
	d.close()
	return nil
}

// Fault returns why the users are not what the file says now; nil if they are.
func (d *dir) Fault() error {
	if err := d.faulty.Load(); err != nil {
		return *err
	}
	return nil
}

// Size returns how large the file is now, and how large it may be.
func (d *dir) Size() (used, most int64, ok bool) {
	info, err := os.Stat(d.path)
	if err != nil {
		return 0, 0, false
	}
	return info.Size(), d.maxSize, true
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
	e, known := d.users.Load().byName[name]
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
	all := d.users.Load()
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
	e, ok := d.users.Load().byID[id]
	if !ok {
		return directory.User{}, false, nil
	}
	return e.user.Clone(), true, nil
}

// Withdrawn reports whether the user with this ID is locked or not in the file. It
// never waits, so that guards can ask for every request.
func (d *dir) Withdrawn(_ context.Context, id string) (bool, error) {
	e, ok := d.users.Load().byID[id]
	return !ok || e.user.Locked, nil
}

// Interface guard
var _ directory.Directory = (*dir)(nil)
