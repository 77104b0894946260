package http1

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

const (
	maxInformational = 16                    // answers with a status below 200 before the final one
	continueTimeout  = time.Second           // for the answer to "Expect: 100-continue"
	bodyGrace        = 50 * time.Millisecond // for the end of a body that the answer did not wait for
)

// Transport sends requests to one server and keeps connections to it. The zero value of each
// time means that there is no limit, but for IdleTimeout.
type Transport struct {
	Dial func(ctx context.Context) (net.Conn, error)
	// MaxIdle is how many idle connections are kept, IdleTimeout for how long.
	MaxIdle     int
	IdleTimeout time.Duration
	// HeaderTimeout is how long the server may take from the whole request until the header fields
	// of its answer. ReadTimeout and WriteTimeout are how long it may send and accept nothing.
	HeaderTimeout, ReadTimeout, WriteTimeout time.Duration
	// MaxHeaderBytes bounds status line and header fields of an answer.
	MaxHeaderBytes int

	pool pool
}

// exchange is one request on one connection.
type exchange struct {
	t      *Transport
	c      *conn
	q      *Request
	upload *upload     // nil while no body is sent
	stop   func() bool // ends the watch over the context
	broken bool        // the connection must not be used again
}

// upload is a body on its way to the server.
type upload struct {
	done chan struct{}
	err  error // after done
}

// Close closes the idle connections, and those in use after their request.
func (t *Transport) Close() { t.pool.close() }

// RoundTrip sends a request and returns the answer once its header fields are there. inform is
// called for each answer before the final one (a status of 1xx), except 100 and 101. A request
// that a kept connection lost is sent again on another one if that cannot do it twice.
func (t *Transport) RoundTrip(ctx context.Context, q *Request, inform func(status int, header http.Header)) (*Response, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	for again := false; ; again = true {
		var c *conn
		if !again { // a retry uses a new connection: the server may have closed all the idle ones
			c = t.pool.take()
		}
		if c == nil {
			plain, err := t.Dial(ctx)
			switch {
			case err != nil && ctx.Err() != nil: // the client is gone; the server is not at fault
				return nil, context.Cause(ctx)
			case err != nil:
				return nil, &DialError{err}
			}
			c = newConn(plain, t.WriteTimeout)
		}
		res, err := t.try(ctx, c, q, inform)
		if err == nil {
			return res, nil
		}
		var lost *lostError
		if !errors.As(err, &lost) || !c.reused || !q.isReplayable() {
			return nil, err
		}
	}
}

// lostError says that the connection ended before a byte of the answer came.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// lost returns the error of a connection on which nothing came. A server that is slow has not lost
// the request.
func lost(err error) error {
	if isTimeout(err) {
		return err
	}
	return &lostError{unexpected(err)}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// try sends a request on a connection, which is closed if that fails.
func (t *Transport) try(ctx context.Context, c *conn, q *Request, inform func(int, http.Header)) (*Response, error) {
	c.readTimeout = 0
	x := exchange{t: t, c: c, q: q, stop: context.AfterFunc(ctx, c.kill)}
	res, err := x.run(inform)
	if err == nil {
		return res, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else {
		err = x.cause(err)
	}
	x.end(false) // which may end the context, and the body
	return nil, err
}

// run sends the request and reads the head of the answer.
func (x *exchange) run(inform func(int, http.Header)) (*Response, error) {
	if err := x.q.writeHead(x.c.out); err != nil {
		return nil, err
	}
	waits := x.q.expectsContinue()
	if err := x.c.out.Flush(); err != nil {
		return nil, lost(err)
	}
	if x.q.Body != nil && !waits {
		x.startUpload()
	}
	if waits {
		if err := x.awaitContinue(); err != nil {
			return nil, err
		}
	}
	if x.upload == nil { // else when the body has been sent
		if err := x.c.limitHead(x.t.HeaderTimeout); err != nil {
			return nil, err
		}
	}
	for n := range maxInformational {
		if _, err := x.c.in.Peek(1); err != nil {
			if n > 0 { // the server was at work on it
				return nil, unexpected(err)
			}
			return nil, lost(err)
		}
		if err := x.c.readHead(x.t.MaxHeaderBytes); err != nil {
			return nil, err
		}
		switch h := &x.c.head; {
		case h.status == http.StatusSwitchingProtocols:
			return nil, malformed("unsolicited status 101")
		case h.status >= 200:
			return x.answer()
		case h.status == http.StatusContinue:
			if x.q.Body == nil || x.upload != nil {
				continue
			}
			if err := x.c.endHead(false); err != nil { // the limit begins anew after the body
				return nil, err
			}
			x.startUpload()
		default:
			fields := make(http.Header)
			h.copyFields(fields)
			inform(h.status, fields)
		}
	}
	return nil, malformed("more than %d answers with a status below 200", maxInformational)
}

// awaitContinue waits for an answer to "Expect: 100-continue", and sends the body if none comes.
func (x *exchange) awaitContinue() error {
	if err := x.c.SetReadDeadline(time.Now().Add(continueTimeout)); err != nil {
		return err
	}
	_, err := x.c.in.Peek(1)
	if resetErr := x.c.SetReadDeadline(time.Time{}); resetErr != nil {
		return resetErr
	}
	switch {
	case err == nil:
		return nil
	case isTimeout(err):
		x.startUpload()
		return nil
	}
	return lost(err)
}

// startUpload sends the body in a goroutine of its own.
func (x *exchange) startUpload() {
	u := &upload{done: make(chan struct{})}
	x.upload = u
	c, q, limit := x.c, x.q, x.t.HeaderTimeout
	go func() {
		err := q.writeBody(c.out)
		var unread *BodyError
		switch {
		case err == nil:
			err = c.limitHead(limit)
		case errors.As(err, &unread):
			defer c.kill() // the server waits for the rest
		case isTimeout(err): // it accepts nothing; its answer may be on the way
			_ = c.limitHead(bodyGrace)
		}
		u.err = err
		close(u.done)
	}()
}

// answer prepares the response after its head.
func (x *exchange) answer() (*Response, error) {
	h := &x.c.head
	n, chunked, err := h.length(x.q.Method)
	if err != nil {
		return nil, err
	}
	if x.t.HeaderTimeout > 0 || x.t.WriteTimeout > 0 {
		if err := x.c.endHead(true); err != nil {
			return nil, err
		}
	}
	x.c.readTimeout = x.t.ReadTimeout
	// A body that was not asked for leaves the server waiting for it.
	x.broken = h.minor == 0 || n < 0 && !chunked || h.has("Connection", "close") || x.q.Body != nil && x.upload == nil
	res := &Response{Status: h.status, Length: n, exchange: *x}
	res.body = reader{c: x.c, left: n, chunked: chunked, done: n == 0 && !chunked}
	if chunked {
		res.body.left = 0
	}
	return res, nil
}

// cause returns why the request body could not be read, if that is what ended the exchange.
func (x *exchange) cause(err error) error {
	if x.upload == nil {
		return err
	}
	select {
	case <-x.upload.done:
		var unread *BodyError
		if errors.As(x.upload.err, &unread) {
			return unread
		}
	default:
	}
	return err
}

// end keeps the connection if both bodies have come to their end, and closes it otherwise. The
// request body is not read any more when it returns.
func (x *exchange) end(whole bool) {
	whole = whole && !x.broken && x.isUploaded()
	if !x.stop() {
		whole = false // it is being closed
	}
	if whole {
		if x.t.ReadTimeout > 0 || x.t.WriteTimeout > 0 || x.t.HeaderTimeout > 0 {
			_ = x.c.SetDeadline(time.Time{})
			x.c.answered = false
		}
		x.t.pool.put(x.c, x.t.MaxIdle, x.t.IdleTimeout)
		return
	}
	_ = x.c.Close()
	if x.upload == nil {
		return
	}
	// A body that is being sent ends by itself. What could not be sent may leave its sender waiting.
	if !x.isUploaded() && x.q.StopBody != nil {
		x.q.StopBody()
	}
	<-x.upload.done
}

// isUploaded reports whether the body was sent.
func (x *exchange) isUploaded() bool {
	return x.upload == nil || x.upload.endsSoon() && x.upload.err == nil
}

// endsSoon reports whether the sending of the body has ended, or ends within bodyGrace: answers may come a little earlier
// than that is known.
func (u *upload) endsSoon() bool {
	select {
	case <-u.done:
		return true
	default:
	}
	timer := time.NewTimer(bodyGrace)
	defer timer.Stop()
	select {
	case <-u.done:
		return true
	case <-timer.C:
		return false
	}
}
