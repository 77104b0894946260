package redistest

import "syscall"

// dieWithParent has a server end with the test process, however that ends, also while it is
// frozen.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
