//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package bolt

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// copyOwner gives a file to the owner of another one: whoever compacts a file may be root, and the gateway not.
func copyOwner(file *os.File, from fs.FileInfo) error {
	own, err := file.Stat()
	if err != nil {
		return err
	}
	have, ok1 := own.Sys().(*syscall.Stat_t)
	want, ok2 := from.Sys().(*syscall.Stat_t)
	if !ok1 || !ok2 || have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	return file.Chown(int(want.Uid), int(want.Gid))
}

// unlockFile gives back the lock on a file whose database cannot be closed. Closing it
// is not enough: the lock lives as long as the mapping.
func unlockFile(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close()) //nolint:gosec // a descriptor
}
