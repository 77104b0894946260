package lazy

import (
	"context"
	"io"

	"github.com/gatehouse/gatehouse/module/directory"
)

// Directory is a user directory that opens at its first use.
type Directory struct {
	source directory.Source
	users  Value[directory.Directory]
}

// NewDirectory makes one that source opens.
func NewDirectory(source directory.Source) *Directory { return &Directory{source: source} }

func (d *Directory) directory(ctx context.Context) (directory.Directory, error) {
	return d.users.Get(ctx, d.source.Open)
}

// Identify implements [directory.Directory].
func (d *Directory) Identify(ctx context.Context, username string) (string, bool, error) {
	open, err := d.directory(ctx)
	if err != nil {
		return "", false, err
	}
	return open.Identify(ctx, username)
}

// Authenticate implements [directory.Directory].
func (d *Directory) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	open, err := d.directory(ctx)
	if err != nil {
		return directory.User{}, false, err
	}
	return open.Authenticate(ctx, username, password)
}

// Lookup implements [directory.Directory].
func (d *Directory) Lookup(ctx context.Context, id string) (directory.User, bool, error) {
	open, err := d.directory(ctx)
	if err != nil {
		return directory.User{}, false, err
	}
	return open.Lookup(ctx, id)
}

// Withdrawn is the directory's own; without one, no user is withdrawn.
func (d *Directory) Withdrawn(ctx context.Context, id string) (bool, error) {
	open, err := d.directory(ctx)
	if err != nil {
		return false, err
	}
	if w, ok := open.(interface {
		Withdrawn(ctx context.Context, id string) (bool, error)
	}); ok {
		return w.Withdrawn(ctx, id)
	}
	return false, nil
}

// Fault is the directory's own: why its users are not those that its source has now.
func (d *Directory) Fault(ctx context.Context) error {
	open, err := d.directory(ctx)
	if f, ok := open.(interface{ Fault() error }); ok && err == nil {
		return f.Fault()
	}
	return err
}

// Size returns how many bytes the directory's source has, and the most that is read. ok is false if it has no bound.
func (d *Directory) Size(ctx context.Context) (used, most int64, ok bool) {
	open, err := d.directory(ctx)
	if s, bounded := open.(interface {
		Size() (used, most int64, ok bool)
	}); bounded && err == nil {
		return s.Size()
	}
	return 0, 0, false
}

// Destruct closes a directory that no configuration and no request uses any more.
func (d *Directory) Destruct() error {
	return d.users.drop(func(open directory.Directory) error {
		if c, ok := open.(io.Closer); ok {
			return c.Close()
		}
		return nil
	})
}
