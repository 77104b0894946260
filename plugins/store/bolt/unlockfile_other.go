//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package bolt

import "os"

// unlockFile closes a file whose database cannot be closed, and its lock with it.
func unlockFile(file *os.File) error { return file.Close() }
