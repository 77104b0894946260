//go:build unix && !linux

package sqltest

import "syscall"

// dieWithParent cannot end a server with its parent on this system.
func dieWithParent(who *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: who}
}
