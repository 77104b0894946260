//go:build !linux

package main

import "syscall"

// endWithParent cannot end a program with its parent on this system.
func endWithParent() *syscall.SysProcAttr { return nil }
