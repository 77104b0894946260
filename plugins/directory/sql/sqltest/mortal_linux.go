package sqltest

import "syscall"

// mortal has a server end with the test process, however that ends.
func mortal(who *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: who, Pdeathsig: syscall.SIGQUIT}
}
