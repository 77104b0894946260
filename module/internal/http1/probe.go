//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package http1

import (
	"net"
	"syscall"
)

// prober returns a function that reports whether an idle connection is still open and the server
// has sent nothing unsolicited, without waiting.
func prober(c net.Conn) func() bool {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	s, ok := c.(syscall.Conn)
	if !ok {
		return func() bool { return true }
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return func() bool { return false }
	}
	var quiet bool
	var one [1]byte
	peek := func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN
		return true
	}
	return func() bool {
		quiet = false
		return raw.Read(peek) == nil && quiet
	}
}
