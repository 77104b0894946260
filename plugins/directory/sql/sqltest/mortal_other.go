//go:build unix && !linux

package sqltest

import "syscall"

// mortal knows no way here to have a server end with a test process that is killed.
func mortal(who *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: who}
}
