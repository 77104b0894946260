package main

import "syscall"

// endWithParent has the kernel end a program with this process, however that ends. It has a
// process group of its own, so that Ctrl-C does not end it before what is measured is reported.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
