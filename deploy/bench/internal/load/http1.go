package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// http1 is a kept connection with one request at a time.
type http1 struct {
	target     *Target
	conn       net.Conn
	in         *bufio.Reader
	head, tail []byte
	out        []byte
	closing    bool // the server said so in the last response
}

func dialHTTP1(t *Target) (*http1, error) {
	c := &http1{target: t}
	c.head, c.tail = t.Request.encode()
	return c, c.dial()
}

func (c *http1) dial() error {
	conn, err := net.Dial("tcp", c.target.Address)
	if err != nil {
		return err
	}
	c.conn, c.in, c.closing = conn, bufio.NewReaderSize(conn, 16<<10), false
	return nil
}

func (c *http1) close() error { return c.conn.Close() }

func (c *http1) run(p pace, r *Result) error {
	if err := c.conn.SetDeadline(p.until.Add(patience)); err != nil {
		return err
	}
	if p.every > 0 {
		return c.runPaced(p, r)
	}
	now := time.Now()
	for more := p.mayBegin(); more; more = p.mayBegin() && now.Before(p.until) {
		status, err := c.exchange()
		if err == nil && p.left == nil {
			err = c.target.check(status, r)
		}
		if err != nil {
			return err
		}
		after := time.Now()
		r.Add(after.Sub(now))
		now = after
	}
	return nil
}

func (c *http1) runPaced(p pace, r *Result) error {
	for at := p.from; at.Before(p.until); at = at.Add(p.every) {
		begun := at
		if wait := time.Until(at); wait > 0 {
			time.Sleep(wait)
			begun = time.Now() // what the sleep was longer is not the server's
		}
		status, err := c.exchange()
		if err == nil {
			err = c.target.check(status, r)
		}
		if err != nil {
			return err
		}
		r.Add(time.Since(begun))
	}
	return nil
}

// exchange sends a request, reads its response and returns the status.
func (c *http1) exchange() (status int, err error) {
	if c.closing {
		if err := errors.Join(c.conn.Close(), c.dial(), c.conn.SetDeadline(time.Now().Add(patience))); err != nil {
			return 0, err
		}
	}
	c.out = append(append(append(c.out[:0], c.head...), c.target.Request.Tokens.take()...), c.tail...)
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, err
	}
	return c.readResponse()
}

// readResponse reads a response to its end. Its length must be known, or it has chunks.
func (c *http1) readResponse() (status int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, fmt.Errorf("not a response: %.100q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length, chunked := -1, false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return status, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return status, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		case bytes.EqualFold(name, []byte("Connection")) && bytes.EqualFold(value, []byte("close")):
			c.closing = true
		}
	}
	switch {
	case chunked:
		return status, discardChunks(c.in)
	case length >= 0:
		_, err = c.in.Discard(length)
		return status, err
	case status == 204 || status == 304:
		return status, nil
	}
	return status, errors.New("a response without a length")
}

// discardChunks reads a chunked body and its trailer.
func discardChunks(in *bufio.Reader) error {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if size == 0 {
			break
		}
		if _, err := io.CopyN(io.Discard, in, size+2); err != nil {
			return err
		}
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			return err
		}
	}
}
