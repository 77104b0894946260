//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package bolt

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// noFollow has [os.OpenFile] refuse a symbolic link.
const noFollow = syscall.O_NOFOLLOW

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

// lockPause is between two attempts to lock a file.
const lockPause = 20 * time.Millisecond

// lockState locks a state file as an open database does, whatever is in it. It returns [errInUse] if a database is open.
func lockState(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockWait); ; time.Sleep(lockPause) {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a descriptor
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			break
		}
		if time.Now().After(end) {
			err = errInUse
			break
		}
	}
	if err == nil && checkPlace(path, file) != nil {
		err = errInUse
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = file.Close() }, nil
}
