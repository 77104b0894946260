package redistest

import "syscall"

// dieWithParent has a server, even a frozen one, killed when the test process ends, however it ends.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
