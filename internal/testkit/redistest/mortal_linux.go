package redistest

import "syscall"

// mortal has a server end with the test process, however that ends, also while it is
// frozen.
func mortal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
