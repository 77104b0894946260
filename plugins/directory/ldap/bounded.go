package ldap

import (
	"fmt"
	"net"
	"sync/atomic"
)

const (
	// mostAnswer is how many bytes a server may send for one operation: two entries with some
	// thousand groups each.
	mostAnswer = 1 << 20
	// mostBeforeTLS is the same for StartTLS with its handshake. Until then anybody on the
	// way may be answering, and an element of two bytes takes two hundred of memory.
	mostBeforeTLS = 64 << 10
)

// bounded is a connection whose server may only send so much until it is asked again. The
// LDAP library takes messages of up to 2 GiB, and any number of them.
type bounded struct {
	net.Conn
	most, left atomic.Int64
}

func newBounded(c net.Conn, most int64) *bounded {
	b := &bounded{Conn: c}
	b.allow(most)
	return b
}

// allow begins an operation.
func (b *bounded) allow(most int64) {
	b.most.Store(most)
	b.left.Store(most)
}

// Read implements [net.Conn].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.left.Add(-int64(n)) < 0 {
		return 0, fmt.Errorf("the LDAP server answers with more than %d bytes", b.most.Load())
	}
	return n, err
}
