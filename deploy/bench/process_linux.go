package main

import "syscall"

// endWithParent has the kernel end a program with this process, however that ends.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
