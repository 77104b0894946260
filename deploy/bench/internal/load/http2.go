package load

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// window is how much a server may send before it is told that it was read.
const window = 1 << 30

// http2Conn is a kept connection with several requests at a time and a single goroutine: each
// response that ends has the next request sent.
type http2Conn struct {
	target  *Target
	conn    net.Conn
	in      *bufio.Reader
	out     *bufio.Writer
	framer  *http2.Framer
	fields  []hpack.HeaderField
	encoder *hpack.Encoder
	block   bytes.Buffer
	unread  uint32               // what is used up of the window
	next    uint32               // stream
	sent    map[uint32]time.Time // when the requests in progress were sent
}

func dialHTTP2(t *Target) (*http2Conn, error) {
	conn, err := tls.Dial("tcp", t.Address, t.TLS)
	if err != nil {
		return nil, err
	}
	if got := conn.ConnectionState().NegotiatedProtocol; got != http2.NextProtoTLS {
		_ = conn.Close()
		return nil, fmt.Errorf("%s speaks %q, not HTTP/2", t.Address, got)
	}
	c := &http2Conn{
		target: t, conn: conn, in: bufio.NewReaderSize(conn, 16<<10), out: bufio.NewWriter(conn),
		fields: fieldsOf(&t.Request), next: 1, sent: make(map[uint32]time.Time),
	}
	c.encoder = hpack.NewEncoder(&c.block)
	c.framer = http2.NewFramer(c.out, c.in)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err = c.out.WriteString(http2.ClientPreface); err == nil {
		err = c.framer.WriteSettings(http2.Setting{ID: http2.SettingEnablePush}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	}
	if err == nil {
		err = c.framer.WriteWindowUpdate(0, window-65_535)
	}
	return c, err
}

// fieldsOf are the header fields of a request but the token.
func fieldsOf(r *Request) []hpack.HeaderField {
	fields := []hpack.HeaderField{
		{Name: ":method", Value: r.Method}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: r.Host}, {Name: ":path", Value: r.Path},
		{Name: "user-agent", Value: "bench"}, {Name: "accept", Value: "application/json"},
	}
	for _, f := range r.Fields {
		name, value, _ := strings.Cut(f, ": ")
		fields = append(fields, hpack.HeaderField{Name: strings.ToLower(name), Value: value})
	}
	return fields
}

func (c *http2Conn) close() error { return c.conn.Close() }

func (c *http2Conn) run(p pace, r *Result) error {
	if p.every > 0 || p.left != nil || c.target.Request.Body != "" {
		return fmt.Errorf("%s: over HTTP/2 only requests without a body are sent, as fast as they are answered", c.target.Address)
	}
	if err := c.conn.SetDeadline(p.until.Add(patience)); err != nil {
		return err
	}
	for range c.target.Streams {
		if err := c.send(time.Now()); err != nil {
			return err
		}
	}
	for len(c.sent) > 0 {
		if c.in.Buffered() == 0 {
			if err := c.out.Flush(); err != nil {
				return err
			}
		}
		ended, err := c.readFrame(r)
		if err != nil {
			return err
		}
		begun, ok := c.sent[ended]
		if !ok {
			continue
		}
		delete(c.sent, ended)
		now := time.Now()
		r.Add(now.Sub(begun))
		if now.Before(p.until) {
			if err := c.send(now); err != nil {
				return err
			}
		}
	}
	return c.out.Flush()
}

// send begins a stream with the next request.
func (c *http2Conn) send(now time.Time) error {
	c.block.Reset()
	for _, f := range c.fields {
		if err := c.encoder.WriteField(f); err != nil {
			return err
		}
	}
	if t := c.target.Request.Tokens; t != nil {
		if err := c.encoder.WriteField(hpack.HeaderField{Name: "authorization", Value: "Bearer " + t.take(), Sensitive: true}); err != nil {
			return err
		}
	}
	id := c.next
	c.next += 2
	c.sent[id] = now
	return c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block.Bytes(), EndStream: true, EndHeaders: true})
}

// readFrame reads a frame and returns the stream that ends with it, 0 for none.
func (c *http2Conn) readFrame(r *Result) (ended uint32, err error) {
	frame, err := c.framer.ReadFrame()
	if err != nil {
		return 0, err
	}
	switch f := frame.(type) {
	case *http2.MetaHeadersFrame:
		status, err := strconv.Atoi(f.PseudoValue("status"))
		if err == nil {
			err = c.target.check(status, r)
		}
		if err != nil {
			return 0, err
		}
		if f.StreamEnded() {
			return f.StreamID, nil
		}
	case *http2.DataFrame:
		if c.unread += f.Length; c.unread > window/2 {
			if err := c.framer.WriteWindowUpdate(0, c.unread); err != nil {
				return 0, err
			}
			c.unread = 0
		}
		if f.StreamEnded() {
			return f.StreamID, nil
		}
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return 0, c.framer.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			return 0, c.framer.WritePing(true, f.Data)
		}
	case *http2.RSTStreamFrame:
		return 0, fmt.Errorf("%s reset a stream: %v", c.target.Address, f.ErrCode)
	case *http2.GoAwayFrame:
		return 0, fmt.Errorf("%s goes away: %v", c.target.Address, f.ErrCode)
	}
	return 0, nil
}
