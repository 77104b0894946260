//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package bolt

import (
	"io/fs"
	"os"
)

// copyOwner does nothing: files have no such owner here, or the state is not compacted.
func copyOwner(*os.File, fs.FileInfo) error { return nil }

// unlockFile closes a file whose database cannot be closed, and its lock with it.
func unlockFile(file *os.File) error { return file.Close() }
