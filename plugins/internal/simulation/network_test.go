package simulation

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// network connects nodes and servers in memory. Its faults are those that TCP shows to
// programs: bytes come late, or connections break.
type network struct {
	latency time.Duration // one way; each delivery takes up to twice as long
	lossy   float64       // the share of deliveries that are sent again, which takes retransmit

	mu     sync.Mutex
	random *rand.Rand
	cut    map[route]chan struct{} // closed when the partition ends
	open   map[*link]bool
	hurt   [nodes]time.Time // when a node last lost something
}

// route is where a connection begins and ends.
type route struct{ node, server int }

// link is one connection.
type link struct {
	route
	ends [2]net.Conn
}

const retransmit = 200 * time.Millisecond

var (
	errRefused     = errors.New("simulation: connection refused")
	errUnreachable = errors.New("simulation: no route to the server")
)

func newNetwork(seed uint64) *network {
	return &network{
		latency: 500 * time.Microsecond,
		random:  rand.New(rand.NewPCG(seed, 1)), cut: make(map[route]chan struct{}), open: make(map[*link]bool),
	}
}

// connect joins what a node holds to a connection of the server. While the route is cut it fails at once: go-redis dials for
// subscriptions with a mutex locked, and time in a bubble stands still while anybody waits for a mutex.
func (n *network) connect(r route, server net.Conn) (net.Conn, error) {
	n.mu.Lock()
	cut := n.cut[r] != nil
	n.mu.Unlock()
	if cut {
		_ = server.Close()
		return nil, errUnreachable
	}
	own, far := net.Pipe()
	l := &link{r, [2]net.Conn{far, server}}
	n.mu.Lock()
	n.open[l] = true
	n.mu.Unlock()
	go n.carry(l, far, server)
	go n.carry(l, server, far)
	return own, nil
}

// await waits until the route is no longer cut.
func (n *network) await(r route) {
	n.mu.Lock()
	healed := n.cut[r]
	n.mu.Unlock()
	if healed != nil {
		<-healed
	}
}

// carry delivers bytes in one direction, in order.
func (n *network) carry(l *link, from, to net.Conn) {
	type delivery struct {
		bytes []byte
		at    time.Time
	}
	queue := make(chan delivery, 1024)
	go func() {
		defer close(queue)
		buffer := make([]byte, 16<<10)
		// What is written at the same moment travels together: miniredis writes each reply to a pipeline by itself.
		var written, at time.Time
		for {
			read, err := from.Read(buffer)
			if read > 0 {
				if now := time.Now(); !now.Equal(written) {
					written, at = now, now.Add(n.delay())
				}
				queue <- delivery{append([]byte(nil), buffer[:read]...), at}
			}
			if err != nil {
				return
			}
		}
	}()
	for d := range queue {
		time.Sleep(time.Until(d.at))
		n.await(l.route)
		if _, err := to.Write(d.bytes); err != nil {
			break
		}
	}
	n.close(l)
	for range queue { // until the reader has seen that the connection is closed
	}
}

func (n *network) delay() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.latency + time.Duration(n.random.Int64N(int64(n.latency)))
	if n.random.Float64() < n.lossy {
		d += retransmit
	}
	return d
}

func (n *network) close(l *link) {
	n.mu.Lock()
	delete(n.open, l)
	n.mu.Unlock()
	for _, end := range l.ends {
		_ = end.Close()
	}
}

// partition cuts routes for some time: nothing is delivered until it ends.
func (n *network) partition(lasts time.Duration, among func(route) bool) {
	healed := make(chan struct{})
	n.mu.Lock()
	for node := range nodes {
		for server := range servers {
			if r := (route{node, server}); among(r) {
				n.cut[r] = healed
				n.hurt[node] = time.Now().Add(lasts)
			}
		}
	}
	n.mu.Unlock()
	time.Sleep(lasts)
	n.mu.Lock()
	clear(n.cut)
	n.mu.Unlock()
	close(healed)
}

// reset breaks connections, each with some probability, losing what is on its way.
func (n *network) reset(probability float64) {
	n.mu.Lock()
	var broken []*link
	for l := range n.open {
		if n.random.Float64() < probability {
			n.hurt[l.node] = time.Now()
			broken = append(broken, l)
		}
	}
	n.mu.Unlock()
	for _, l := range broken {
		n.close(l)
	}
}

// reached reports whether a node has been in touch with all servers since then.
func (n *network) reached(node int, since time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hurt[node].Before(since)
}
