package load

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Target is a server and what is asked of it.
type Target struct {
	// Address is host:port.
	Address string
	Request Request
	// Status is the only status that is accepted, but for 503: a server that is overloaded
	// may refuse some requests.
	Status int
	// Connections are open at the same time. Each has one request in progress, or Streams of
	// them over HTTP/2 and TLS if Streams is not 0.
	Connections, Streams int
	// TLS is for HTTP/2.
	TLS *tls.Config
}

// Client has its connections open.
type Client struct {
	target Target
	conns  []connection
	once   sync.Once
	err    error // of closing
}

// connection sends requests until its pace ends, and adds how long they took.
type connection interface {
	run(pace, *Result) error
	close() error
}

// pace says when requests are sent: as soon as the last one was answered or, with every, at
// fixed times.
type pace struct {
	from, until time.Time
	every       time.Duration
	// left, if not nil, is how many requests all connections together still send, and any
	// status is accepted.
	left *atomic.Int64
}

// mayBegin takes one of the requests that are left.
func (p *pace) mayBegin() bool { return p.left == nil || p.left.Add(-1) >= 0 }

// check counts a status, or says that it is another one than expected.
func (t *Target) check(status int, r *Result) error {
	switch status {
	case t.Status:
	case http.StatusServiceUnavailable:
		r.Refused++
	default:
		return fmt.Errorf("%s %s of %s: expected status %d, got %d", t.Request.Method, t.Request.Path, t.Address, t.Status, status)
	}
	return nil
}

// patience is how long after its end a run may wait for responses.
const patience = 30 * time.Second

// Result is what was seen of a run.
type Result struct {
	Histogram
	// Refused is how many of the responses were 503.
	Refused int
	// Took is from the first request to the last response.
	Took time.Duration
}

// Rate is how many requests were answered in a second.
func (r *Result) Rate() float64 { return float64(r.Count()) / r.Took.Seconds() }

// Open connects.
func Open(t Target) (*Client, error) {
	c := &Client{target: t}
	for range t.Connections {
		var conn connection
		var err error
		if t.Streams > 0 {
			conn, err = dialHTTP2(&c.target)
		} else {
			conn, err = dialHTTP1(&c.target)
		}
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.conns = append(c.conns, conn)
	}
	return c, nil
}

// Close closes the connections, and so ends what runs on them.
func (c *Client) Close() error {
	c.once.Do(func() {
		var errs []error
		for _, conn := range c.conns {
			errs = append(errs, conn.close())
		}
		c.err = errors.Join(errs...)
	})
	return c.err
}

// Run sends requests as fast as they are answered, at least one over each connection.
func (c *Client) Run(length time.Duration) (*Result, error) {
	now := time.Now()
	return c.run(func(int) pace { return pace{from: now, until: now.Add(length)} })
}

// RunAt sends so many requests a second, evenly over time and connections. A request that its
// connection cannot send in time, because the last response is late, counts from when it
// should have been sent. Only for HTTP/1.1.
func (c *Client) RunAt(rate float64, length time.Duration) (*Result, error) {
	now := time.Now()
	each := time.Duration(float64(time.Second) / rate)
	return c.run(func(i int) pace {
		return pace{from: now.Add(time.Duration(i) * each), until: now.Add(length), every: each * time.Duration(len(c.conns))}
	})
}

// Prime sends n requests and accepts any status.
func (c *Client) Prime(n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	now := time.Now()
	_, err := c.run(func(int) pace { return pace{from: now, until: now.Add(time.Hour), left: &left} })
	return err
}

func (c *Client) run(paceOf func(int) pace) (*Result, error) {
	all := make([]Result, len(c.conns))
	errs := make([]error, len(c.conns))
	begun := time.Now()
	var wg sync.WaitGroup
	for i, conn := range c.conns {
		wg.Go(func() { errs[i] = conn.run(paceOf(i), &all[i]) })
	}
	wg.Wait()
	r := &Result{Took: time.Since(begun)}
	for i := range all {
		r.Merge(&all[i].Histogram)
		r.Refused += all[i].Refused
	}
	for _, err := range errs {
		if err != nil { // the others say the same
			return r, err
		}
	}
	return r, nil
}
