package http1

import (
	"sync"
	"time"
)

// pool keeps idle connections, the one that was used last on top.
type pool struct {
	mu     sync.Mutex
	idle   []*conn // the oldest first
	closed bool
	timer  *time.Timer // closes connections that are idle for too long; nil while none is
}

// take returns the connection that was used last and is still good, or nil.
func (p *pool) take() *conn {
	for {
		p.mu.Lock()
		last := len(p.idle) - 1
		if last < 0 {
			p.mu.Unlock()
			return nil
		}
		c := p.idle[last]
		p.idle[last] = nil
		p.idle = p.idle[:last]
		p.mu.Unlock()
		if c.isQuiet() {
			c.reused = true
			return c
		}
		_ = c.Close()
	}
}

// put keeps a connection for the next request; it closes it, or the one that was used least
// recently, if there are most already.
func (p *pool) put(c *conn, most int, timeout time.Duration) {
	c.forget()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || most <= 0 {
		_ = c.Close()
		return
	}
	if len(p.idle) >= most {
		_ = p.idle[0].Close()
		copy(p.idle, p.idle[1:])
		p.idle = p.idle[:len(p.idle)-1]
	}
	c.idleAt = time.Now()
	p.idle = append(p.idle, c)
	if p.timer == nil {
		p.timer = time.AfterFunc(timeout, func() { p.expire(timeout) })
	}
}

// expire closes the connections that have been idle for the timeout.
func (p *pool) expire(timeout time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var n int
	for n < len(p.idle) && time.Since(p.idle[n].idleAt) >= timeout {
		_ = p.idle[n].Close()
		n++
	}
	kept := copy(p.idle, p.idle[n:])
	clear(p.idle[kept:])
	p.idle = p.idle[:kept]
	p.timer = nil
	if kept > 0 {
		p.timer = time.AfterFunc(timeout-time.Since(p.idle[0].idleAt), func() { p.expire(timeout) })
	}
}

// close closes the idle connections, and those that come back from now on.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		_ = c.Close()
	}
	p.idle = nil
	if p.timer != nil {
		p.timer.Stop()
	}
}
