//go:build unix

package proc

import (
	"syscall"
	"time"
)

// Own is the CPU time that this process has used, to the microsecond.
func Own() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
