package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/asowner"
)

const (
	// restoreSuffix makes the name of the snapshot's copy, before it takes the place of the state file. What has this
	// name is removed, so it must be one that nobody gives a backup.
	restoreSuffix = ".restore-copy.tmp"
	// asideFormat makes the suffix of the files that were in force before, from the time.
	asideFormat = ".before-20060102T150405.000Z"
)

var errInUse = errors.New("a gateway has the state file open: stop it first")

// Restore implements store.FileSource. The snapshot is copied, so that it can be restored again. A crash leaves the state
// of before or that of the snapshot; the secret is replaced first, and without the state that belongs to it the gateway
// cannot read its keys and says so.
func (b *Bolt) Restore(ctx context.Context, r store.Restoration) (store.Restored, error) {
	snapshot, err := os.Open(r.Snapshot)
	if err != nil {
		return store.Restored{}, err
	}
	defer func() { _ = snapshot.Close() }()
	back, err := asowner.Act(cmp.Or(b.named, b.resolved))
	var done store.Restored
	if err == nil {
		done, err = restoreFile(ctx, b.resolved, snapshot, r)
		err = errors.Join(err, back())
	}
	if err != nil {
		return done, fmt.Errorf("store bolt: %s: %w", b.resolved, err)
	}
	return done, nil
}

func restoreFile(ctx context.Context, path string, snapshot io.Reader, r store.Restoration) (done store.Restored, err error) {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return done, err
	}
	owner, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return done, err
	}
	release, err := lockState(path)
	fresh := errors.Is(err, fs.ErrNotExist)
	switch {
	case fresh:
	case err != nil:
		return done, err
	default:
		defer release()
		if owner, err = os.Stat(path); err != nil {
			return done, err
		}
	}
	copied := path + restoreSuffix
	if err := prepareCopy(ctx, copied, owner, snapshot, r); err != nil {
		return done, errors.Join(err, removeFile(copied))
	}
	suffix := time.Now().UTC().Format(asideFormat)
	if err := replaceSecret(path+secretSuffix, suffix, owner, r.Secret, &done); err != nil {
		return done, errors.Join(err, removeFile(copied))
	}
	if fresh {
		// Another file of this name, made by a gateway that was started meanwhile, is not replaced.
		if err := placeNew(copied, path); err != nil {
			return done, errors.Join(err, removeFile(copied))
		}
		return done, syncDirs(path)
	}
	if err := keepAside(path, suffix, &done); err != nil {
		return done, errors.Join(err, removeFile(copied))
	}
	if err := os.Rename(copied, path); err != nil {
		return done, err
	}
	return done, syncDirs(path)
}

// prepareCopy copies the snapshot and has a gateway's own code open it.
func prepareCopy(ctx context.Context, copied string, owner fs.FileInfo, snapshot io.Reader, r store.Restoration) error {
	if err := removeFile(copied); err != nil {
		return err
	}
	made, err := copyFile(ctx, snapshot, copied, owner, r.Progress)
	if err != nil {
		return err
	}
	b, err := openResolved(copied, Options{})
	if err != nil {
		return err
	}
	if opened, bad := b.handle.file.Stat(); bad != nil || !os.SameFile(made, opened) {
		err = fmt.Errorf("%s: another program has put a file of its own there", copied)
	}
	if err == nil && r.Prepare != nil {
		err = r.Prepare(ctx, b)
	}
	return errors.Join(err, b.Close())
}

// copyStep is how many bytes are copied between two looks at the context.
const copyStep = 1 << 20

// copyFile copies the snapshot into a new file, which belongs to the owner of another one.
func copyFile(ctx context.Context, in io.Reader, to string, owner fs.FileInfo, progress func(int64)) (made fs.FileInfo, err error) {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.CopyN(out, in, copyStep)
		if progress != nil {
			progress(n)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if err := giveTo(out, owner, os.Geteuid()); err != nil {
		return nil, err
	}
	if made, err = out.Stat(); err != nil {
		return nil, err
	}
	return made, out.Sync()
}

// replaceSecret puts another secret in the place of the one that is there, if they differ.
func replaceSecret(path, suffix string, owner fs.FileInfo, value []byte, done *store.Restored) error {
	if len(value) == 0 {
		return nil
	}
	k := keeper{path: path, log: zap.NewNop(), made: func(file *os.File) error { return giveTo(file, owner, os.Geteuid()) }}
	have, err := os.ReadFile(path)
	switch {
	case err == nil && string(bytes.TrimRight(have, "\r\n")) == string(value):
		return nil
	case err == nil:
		err = keepAside(path, suffix, done)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err == nil {
		err = k.writeSecret(value)
	}
	if err != nil {
		return fmt.Errorf("the secret cannot be replaced: %w", err)
	}
	return nil
}

// makeDir makes a folder and those above it that are missing. Each belongs to the owner of the folder that it is in:
// root may restore the state of a gateway that runs as another user and must be able to enter them.
func makeDir(path string) error {
	_, err := os.Stat(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if parent == path {
		return err
	}
	if err := makeDir(parent); err != nil {
		return err
	}
	owner, err := os.Stat(parent)
	if err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	dir, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return err
	}
	info, err := dir.Stat()
	switch {
	case err != nil:
	case !info.IsDir():
		err = fmt.Errorf("%s: another program has put a file of its own there", path)
	default:
		err = giveTo(dir, owner, os.Geteuid())
	}
	return errors.Join(err, dir.Close())
}

// giveTo gives a file to the owner of another one if root asks for it. Nobody else may: what they restore stays theirs.
// It MUST be the file that was made here, and not opened again by its name: the folder belongs to the user of the gateway,
// who could have put a link to somebody else's file in its place.
func giveTo(file *os.File, owner fs.FileInfo, euid int) error {
	if euid != 0 {
		return nil
	}
	return copyOwner(file, owner)
}

// keepAside gives a file another name, and where the file system can leaves it under its own as well until that is
// taken, so that a crash does not leave it missing.
func keepAside(path, suffix string, done *store.Restored) error {
	aside := path + suffix
	if err := os.Link(path, aside); err != nil {
		if _, missing := os.Lstat(aside); missing == nil {
			return fmt.Errorf("%s exists", aside)
		}
		if err := os.Rename(path, aside); err != nil {
			return err
		}
	}
	done.Aside = append(done.Aside, aside)
	return nil
}

// placeNew gives a file its final name unless there is one of that name.
func placeNew(from, to string) error {
	if err := os.Link(from, to); err == nil {
		return os.Remove(from)
	}
	if _, err := os.Lstat(to); err == nil {
		return errInUse
	}
	return os.Rename(from, to)
}
