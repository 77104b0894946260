package redistest

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// Proxy sits between a client and a Redis without TLS, and simulates network faults. It starts without any.
type Proxy struct {
	// Addr is host:port.
	Addr string

	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	fault  fault
	change chan struct{} // closed when the fault becomes another one
	conns  map[*proxied]struct{}
	closed bool
}

// fault is what the proxy does to connections.
type fault struct {
	latency   time.Duration
	blackhole bool
	refuse    bool
	drop      int      // how many replies
	dropOf    []string // to which commands; nil for all that do something
	dropFrom  string   // the command with whose replies the loss of all replies begins
	pass      int      // how many replies to dropFrom still arrive
}

// NewProxy starts a proxy for an address, and stops it when the test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), target: target, listener: l, change: make(chan struct{}), conns: make(map[*proxied]struct{})}
	p.running.Go(p.acceptConns)
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.setFault(fault{refuse: true})
		p.Cut()
		p.running.Wait()
	})
	return p
}

// URL returns the URL of the first database.
func (p *Proxy) URL() string { return "redis://" + p.Addr + "/0" }

// Latency delays each reply, on existing and new connections.
func (p *Proxy) Latency(d time.Duration) { p.setFault(fault{latency: d}) }

// Blackhole holds back what either side sends, until Heal. Then all of it arrives, late, as after TCP's
// retransmissions. Requests that a client has given up on meanwhile are executed too.
func (p *Proxy) Blackhole() { p.setFault(fault{blackhole: true}) }

// Reset resets all connections, including new ones, until Heal.
func (p *Proxy) Reset() {
	p.setFault(fault{refuse: true})
	p.Cut()
}

// DropReplies discards the next n replies and resets their connections, after the requests were executed. It applies
// to the given commands, or else to all except those that set up a connection.
func (p *Proxy) DropReplies(n int, commands ...string) {
	p.setFault(fault{drop: n, dropOf: commands})
}

// DropRepliesFrom discards the nth reply to a command, and every reply to any command after it except those that set
// up a connection. The requests are executed.
func (p *Proxy) DropRepliesFrom(n int, command string) {
	p.setFault(fault{dropFrom: command, pass: n - 1})
}

// Heal ends all faults.
func (p *Proxy) Heal() { p.setFault(fault{}) }

// Cut resets the existing connections; new ones are served.
func (p *Proxy) Cut() {
	p.mu.Lock()
	conns := make([]*proxied, 0, len(p.conns))
	for c := range p.conns {
		conns = append(conns, c)
	}
	p.mu.Unlock()
	for _, c := range conns {
		c.resetConn()
	}
}

// Conns returns the number of open connections.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

func (p *Proxy) setFault(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
	close(p.change)
	p.change = make(chan struct{})
}

func (p *Proxy) acceptConns() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		c := &proxied{proxy: p, client: client.(*net.TCPConn), gone: make(chan struct{})}
		p.mu.Lock()
		refuse := p.fault.refuse || p.closed
		if !refuse {
			p.conns[c] = struct{}{}
			p.running.Go(c.serveConn)
		}
		p.mu.Unlock()
		if refuse {
			c.resetConn()
		}
	}
}

// awaitOpen waits until there is no black hole and returns the delay of replies. It returns false when the connection
// is gone.
func (p *Proxy) awaitOpen(gone <-chan struct{}) (time.Duration, bool) {
	for {
		p.mu.Lock()
		f, change := p.fault, p.change
		p.mu.Unlock()
		if !f.blackhole {
			return f.latency, true
		}
		select {
		case <-change:
		case <-gone:
			return 0, false
		}
	}
}

// openings are the commands with which clients set up and maintain a connection.
var openings = []string{"HELLO", "AUTH", "SELECT", "CLIENT", "PING", "READONLY", "CLUSTER", "COMMAND", "SENTINEL", "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "QUIT", "ROLE", "INFO"}

// dropsReply reports whether the reply to a command is to be discarded, and counts it.
func (p *Proxy) dropsReply(command string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault.dropFrom != "" {
		if command == p.fault.dropFrom {
			p.fault.pass--
		}
		return p.fault.pass < 0 && !slices.Contains(openings, command)
	}
	if p.fault.drop == 0 {
		return false
	}
	if p.fault.dropOf != nil && !slices.Contains(p.fault.dropOf, command) || p.fault.dropOf == nil && slices.Contains(openings, command) {
		return false
	}
	p.fault.drop--
	return true
}
