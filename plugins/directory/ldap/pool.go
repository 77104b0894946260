package ldap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-ldap/ldap/v3"
)

// idleFor is how long an unused connection is kept: less than what servers and firewalls usually allow.
const idleFor = 2 * time.Minute

var errClosed = errors.New("the LDAP directory is closed")

// pool keeps connections of one kind between uses. Each is used by one caller at a
// time: a bind changes who the connection is.
type pool struct {
	s     *settings
	now   func() time.Time
	ready func(*ldap.Conn) error // makes a new connection usable; nil: nothing to do
	turns chan struct{}

	mu     sync.Mutex
	closed bool
	idle   []idleConn
}

// serverConn is a connection, and how much the server may still send on it.
type serverConn struct {
	*ldap.Conn
	answers *bounded
}

type idleConn struct {
	conn  *serverConn
	since time.Time
}

func newPool(s *settings, now func() time.Time, ready func(*ldap.Conn) error) *pool {
	return &pool{s: s, now: now, ready: ready, turns: make(chan struct{}, s.pool)}
}

// withConn runs an operation on a connection. When one that had been idle turns out to be dead, as all are after the
// server was restarted, the operation runs once more on a new one; all of ours may be repeated. The connection is
// closed when ctx ends, which ends the operation.
func (p *pool) withConn(ctx context.Context, operation func(*ldap.Conn) error) error {
	select {
	case p.turns <- struct{}{}:
		defer func() { <-p.turns }()
	case <-ctx.Done():
		return fmt.Errorf("waiting for a connection to the LDAP server: %w", ctx.Err())
	}
	for {
		conn, err := p.takeIdle()
		if err != nil {
			return err
		}
		fresh := conn == nil
		if fresh {
			if conn, err = p.dialServer(ctx); err != nil {
				return err
			}
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		conn.answers.allow(mostAnswer)
		if fresh && p.ready != nil {
			err = p.ready(conn.Conn)
		}
		unready := err != nil
		if !unready {
			err = operation(conn.Conn)
		}
		ended := !stop()
		broken := err != nil && isConnLost(err)
		switch {
		case ended || unready || broken || conn.IsClosing():
			_ = conn.Close()
		default:
			p.putConn(conn)
		}
		switch {
		case ended && err != nil:
			return fmt.Errorf("the LDAP server: %w", ctx.Err())
		case broken && !fresh:
			p.dropIdle() // the others are as old
			continue
		}
		return err
	}
}

// isConnLost tells that the connection is, and nothing about the request.
func isConnLost(err error) bool {
	var e *ldap.Error
	return !errors.As(err, &e) || e.ResultCode >= ldap.ErrorNetwork || e.ResultCode == ldap.LDAPResultUnavailable
}

// takeIdle gives an idle connection, nil when there is none.
func (p *pool) takeIdle() (*serverConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	for len(p.idle) > 0 {
		last := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if age := p.now().Sub(last.since); !last.conn.IsClosing() && age >= 0 && age < idleFor {
			return last.conn, nil
		}
		_ = last.conn.Close()
	}
	return nil, nil
}

func (p *pool) putConn(conn *serverConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = conn.Close()
		return
	}
	p.idle = append(p.idle, idleConn{conn, p.now()})
}

func (p *pool) dropIdle() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, i := range idle {
		_ = i.conn.Close()
	}
}

func (p *pool) closePool() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.dropIdle()
}

// dialServer connects and encrypts.
func (p *pool) dialServer(ctx context.Context) (*serverConn, error) {
	var dialer net.Dialer
	socket, err := dialer.DialContext(ctx, "tcp", p.s.host)
	if err != nil {
		return nil, fmt.Errorf("connecting to the LDAP server: %w", err)
	}
	answers := newBounded(socket, mostBeforeTLS)
	var raw net.Conn = answers
	if p.s.ldaps {
		encrypted := tls.Client(raw, p.s.tls)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, fmt.Errorf("connecting to the LDAP server: %w", err)
		}
		raw = encrypted
	}
	conn := ldap.NewConn(raw, p.s.ldaps)
	conn.SetTimeout(p.s.timeout)
	conn.Start()
	if p.s.tls != nil && !p.s.ldaps {
		stop := context.AfterFunc(ctx, func() {
			// Else the handshake's failure is delivered to nobody until the timeout has passed again.
			conn.SetTimeout(time.Millisecond)
			_ = raw.Close()
		})
		err := conn.StartTLS(p.s.tls)
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("encrypting the connection to the LDAP server: %w", err)
		}
	}
	return &serverConn{conn, answers}, nil
}
