//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package bolt

import (
	"errors"
	"os"
	"syscall"
)

// unlockFile gives back the lock on a file whose database cannot be closed. Closing it
// is not enough: the lock lives as long as the mapping.
func unlockFile(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close()) //nolint:gosec // a descriptor
}
