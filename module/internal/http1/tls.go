package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"syscall"
	"time"
)

// Secure performs the TLS handshake on a connection to a server. It closes c if the handshake fails.
func Secure(ctx context.Context, c net.Conn, config *tls.Config) (net.Conn, error) {
	secured := tls.Client(&records{Conn: c, in: bufio.NewReaderSize(c, bufferSize)}, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return secured, nil
}

// records is a connection that gives TLS one record at a time. crypto/tls alone reads ahead, and what a server sends after
// an answer would be hidden until it is taken for the next one.
type records struct {
	net.Conn
	in   *bufio.Reader
	left int // bytes of the record that is being read
}

// headOfRecord is the size of type, version and length, with which each record begins (RFC 8446, section 5.1).
const headOfRecord = 5

func (r *records) Read(p []byte) (int, error) {
	if r.left == 0 {
		head, err := r.in.Peek(headOfRecord)
		if len(head) < headOfRecord {
			return 0, err
		}
		r.left = headOfRecord + int(binary.BigEndian.Uint16(head[3:]))
	}
	n, err := r.in.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// SyscallConn is that of the TCP connection.
func (r *records) SyscallConn() (syscall.RawConn, error) {
	c, ok := r.Conn.(syscall.Conn)
	if !ok {
		return nil, syscall.EINVAL
	}
	return c.SyscallConn()
}

// isQuiet reports whether an idle connection is open and the server has sent nothing unsolicited.
func (c *conn) isQuiet() bool {
	if c.in.Buffered() > 0 || !c.probe() {
		return false
	}
	secured, ok := c.Conn.(*tls.Conn)
	if !ok {
		return true
	}
	if r, ok := secured.NetConn().(*records); !ok || r.left > 0 || r.in.Buffered() > 0 {
		return false
	}
	// What is left of a record that was decrypted is read in spite of a deadline that has passed.
	c.readTimeout = 0
	if c.SetReadDeadline(time.Unix(1, 0)) != nil {
		return false
	}
	_, err := c.in.Peek(1)
	return isTimeout(err) && c.SetReadDeadline(time.Time{}) == nil
}
