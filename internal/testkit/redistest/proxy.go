package redistest

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// Proxy stands between a client and a Redis that it can reach without TLS, and does what
// networks do. It begins healthy.
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

// fault is what the proxy does at the moment.
type fault struct {
	latency   time.Duration
	blackhole bool
	refuse    bool
	drop      int      // how many replies
	dropOf    []string // to which commands; nil for all that do something
	dropFrom  string   // the command with whose replies the loss of all replies begins
	pass      int      // how many replies to dropFrom still arrive
}

// NewProxy starts a proxy to an address, and ends it with the test.
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

// URL is that of the first database.
func (p *Proxy) URL() string { return "redis://" + p.Addr + "/0" }

// Latency delays each reply, of old and new connections.
func (p *Proxy) Latency(d time.Duration) { p.setFault(fault{latency: d}) }

// Blackhole holds whatever either side sends and answers nothing, until Heal: then it
// arrives, late, as TCP would send it again. Requests that a client has given up on
// meanwhile are executed too.
func (p *Proxy) Blackhole() { p.setFault(fault{blackhole: true}) }

// Reset resets all connections, and each new one, until Heal.
func (p *Proxy) Reset() {
	p.setFault(fault{refuse: true})
	p.Cut()
}

// DropReplies throws the next n replies away and resets their connections: the requests
// were executed. It means replies to the commands named, else to all but those with which
// connections begin.
func (p *Proxy) DropReplies(n int, commands ...string) {
	p.setFault(fault{drop: n, dropOf: commands})
}

// DropRepliesFrom throws away the nth reply to a command and every reply after it, whatever
// the command, but for those with which connections begin. The requests are executed.
func (p *Proxy) DropRepliesFrom(n int, command string) {
	p.setFault(fault{dropFrom: command, pass: n - 1})
}

// Heal ends whatever was wrong.
func (p *Proxy) Heal() { p.setFault(fault{}) }

// Cut resets the connections of this moment; new ones are served.
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

// Conns is how many connections there are.
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

// awaitOpen waits while there is a black hole and gives the delay of replies; false when the
// connection is gone.
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

// openings are commands with which clients begin a connection or look after it.
var openings = []string{"HELLO", "AUTH", "SELECT", "CLIENT", "PING", "READONLY", "CLUSTER", "COMMAND", "SENTINEL", "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "QUIT", "ROLE", "INFO"}

// dropsReply says whether the reply to a command is one to throw away, and counts it.
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
