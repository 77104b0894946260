//go:build unix && !linux

package redistest

import "syscall"

// dieWithParent cannot end a server with its parent on this system.
func dieWithParent() *syscall.SysProcAttr { return nil }
