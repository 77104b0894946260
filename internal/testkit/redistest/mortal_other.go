//go:build unix && !linux

package redistest

import "syscall"

// mortal knows no way here to have a server end with a test process that is killed.
func mortal() *syscall.SysProcAttr { return nil }
