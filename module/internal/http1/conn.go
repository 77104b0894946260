package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	bufferSize = 4 << 10
	// maxKept bounds each buffer that a connection keeps between requests.
	maxKept = 16 << 10
)

// conn is a connection to the server. One request uses it at a time.
type conn struct {
	net.Conn

	in     *bufio.Reader
	out    *bufio.Writer
	head   head
	long   []byte // a head that does not fit into in
	probe  func() bool
	idleAt time.Time

	readTimeout time.Duration // for each read; 0 means none
	reused      bool

	mu       sync.Mutex
	answered bool // the head of the final answer is there
}

// limitHead bounds how long the head of the answer may take from now on, if it is not there yet.
func (c *conn) limitHead(d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d <= 0 || c.answered {
		return nil
	}
	return c.SetReadDeadline(time.Now().Add(d))
}

// endHead says whether the head of the answer is there, and ends its limit.
func (c *conn) endHead(answered bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answered = answered
	return c.SetReadDeadline(time.Time{})
}

// kill ends what waits for the connection, for good.
func (c *conn) kill() {
	if t, ok := c.Conn.(interface{ NetConn() net.Conn }); ok {
		_ = t.NetConn().Close() // without a TLS alert, which may wait
		return
	}
	_ = c.Close()
}

// stallReader and stallWriter set a deadline before each read and write, so that a server that
// does nothing for so long ends the request, while one that is slow does not.
type stallReader struct{ *conn }

func (r stallReader) Read(p []byte) (int, error) {
	if r.readTimeout > 0 {
		if err := r.Conn.SetReadDeadline(time.Now().Add(r.readTimeout)); err != nil {
			return 0, err
		}
	}
	return r.Conn.Read(p)
}

type stallWriter struct {
	net.Conn
	timeout time.Duration
}

func (w stallWriter) Write(p []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return 0, err
	}
	return w.Conn.Write(p)
}

// newConn prepares a connection for requests.
func newConn(c net.Conn, writeTimeout time.Duration) *conn {
	n := &conn{Conn: c, probe: prober(c)}
	n.in = bufio.NewReaderSize(stallReader{n}, bufferSize)
	if writeTimeout > 0 {
		c = stallWriter{c, writeTimeout}
	}
	n.out = bufio.NewWriterSize(c, bufferSize)
	return n
}

var endOfHead = []byte("\r\n\r\n")

// readHead reads the status line and the header fields, which are at most limit bytes.
func (c *conn) readHead(limit int) error {
	if _, err := c.in.Peek(1); err != nil {
		return err
	}
	buffered, err := c.in.Peek(c.in.Buffered())
	if err != nil {
		return err
	}
	if end := bytes.Index(buffered, endOfHead); end >= 0 && end <= limit {
		text := string(buffered[:end+2])
		if _, err := c.in.Discard(end + len(endOfHead)); err != nil {
			return err
		}
		return c.head.parse(text)
	}
	text, err := c.readLines(limit)
	if err != nil {
		return err
	}
	return c.head.parse(text)
}

// readLines reads lines up to the first empty one and returns them without it.
func (c *conn) readLines(limit int) (string, error) {
	c.long = c.long[:0]
	for begin := 0; ; {
		part, err := c.in.ReadSlice('\n')
		if len(c.long)+len(part) > limit {
			return "", fmt.Errorf("%w: header fields are longer than %d bytes", ErrMalformed, limit)
		}
		c.long = append(c.long, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return "", unexpected(err)
		case !bytes.HasSuffix(c.long, []byte("\r\n")):
			return "", malformed("a line ends with LF alone")
		case len(c.long) == begin+2:
			text := string(c.long[:begin])
			if cap(c.long) > maxKept {
				c.long = nil
			}
			return text, nil
		}
		begin = len(c.long)
	}
}

// forget drops what refers to the last answer.
func (c *conn) forget() {
	if len(c.head.fields)*32 > maxKept {
		c.head.fields = nil
	}
	clear(c.head.fields)
	c.head.fields = c.head.fields[:0]
}
