//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package bolt

import (
	"errors"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// noFollow changes nothing here.
const noFollow = 0

// copyOwner does nothing: files have no such owner here, or the state is not compacted.
func copyOwner(*os.File, fs.FileInfo) error { return nil }

// unlockFile closes a file whose database cannot be closed, and its lock with it.
func unlockFile(file *os.File) error { return file.Close() }

// lockState reports with [errInUse] whether a database is open. It keeps no lock: a locked file could not be replaced.
func lockState(path string) (release func(), err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	var file *os.File
	var db *bbolt.DB
	err = recoverPanic(func() (err error) {
		db, err = bbolt.Open(path, 0o600, bboltOptions(&file))
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, errInUse
	case err == nil:
		_ = recoverPanic(db.Close)
	case errors.As(err, new(panicError)):
		_ = unlockFile(file) // it is damaged, and being replaced for it
	}
	return func() {}, nil
}
