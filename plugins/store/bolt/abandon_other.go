//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package bolt

import "os"

// abandon closes a file whose database cannot be closed, and its lock with it.
func abandon(file *os.File) error { return file.Close() }
