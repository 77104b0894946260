package sqltest

import "syscall"

// dieWithParent has a server end with the test process, however that ends.
func dieWithParent(who *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: who, Pdeathsig: syscall.SIGQUIT}
}
