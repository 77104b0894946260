package redistest

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// proxied is one connection through the proxy.
type proxied struct {
	proxy  *Proxy
	client *net.TCPConn
	server net.Conn

	once sync.Once
	gone chan struct{} // closed when the client's side is

	mu   sync.Mutex
	drop bool // the next reply
}

// resetConn closes the connection so that the client's next call fails with a reset instead of EOF.
func (c *proxied) resetConn() {
	c.once.Do(func() {
		_ = c.client.SetLinger(0) // close sends RST
		close(c.gone)
		_ = c.client.Close()
	})
}

// closeConn closes the connection as the server did.
func (c *proxied) closeConn() {
	c.once.Do(func() {
		close(c.gone)
		_ = c.client.Close()
	})
}

func (c *proxied) serveConn() {
	defer func() {
		c.closeConn()
		c.proxy.mu.Lock()
		delete(c.proxy.conns, c)
		c.proxy.mu.Unlock()
	}()
	if _, ok := c.proxy.awaitOpen(c.gone); !ok {
		return
	}
	server, err := net.Dial("tcp", c.proxy.target)
	if err != nil {
		c.resetConn()
		return
	}
	c.server = server
	arrived := make(chan reply, 1024)
	var all sync.WaitGroup
	all.Go(c.forwardRequests)
	all.Go(func() { c.readReplies(arrived) })
	all.Go(func() { c.deliverReplies(arrived) })
	all.Wait()
}

// forwardRequests forwards requests, even if the client no longer waits for the replies.
func (c *proxied) forwardRequests() {
	defer func() { _ = c.server.Close() }()
	from := bufio.NewReaderSize(c.client, 64<<10)
	for {
		raw, command, err := readRequest(from)
		if err != nil {
			return
		}
		if _, ok := c.proxy.awaitOpen(c.gone); !ok {
			return
		}
		if c.proxy.dropsReply(command) {
			c.mu.Lock()
			c.drop = true
			c.mu.Unlock()
		}
		if _, err := c.server.Write(raw); err != nil {
			return
		}
	}
}

// reply is a part of the server's reply and the time at which it arrived.
type reply struct {
	bytes []byte
	at    time.Time
}

func (c *proxied) readReplies(arrived chan<- reply) {
	defer close(arrived)
	buf := make([]byte, 64<<10)
	for {
		n, err := c.server.Read(buf)
		c.mu.Lock()
		drop := c.drop
		c.mu.Unlock()
		if drop && n > 0 {
			c.resetConn()
		}
		if n > 0 && !drop {
			select {
			case arrived <- reply{append([]byte(nil), buf[:n]...), time.Now()}:
			case <-c.gone:
			}
		}
		if err != nil {
			return
		}
	}
}

// deliverReplies forwards each reply when it is due. The delay counts from the arrival of each, so replies that queue
// up behind another are not delayed twice.
func (c *proxied) deliverReplies(arrived <-chan reply) {
	defer c.closeConn()
	for r := range arrived {
		latency, ok := c.proxy.awaitOpen(c.gone)
		if !ok {
			return
		}
		if wait := time.Until(r.at.Add(latency)); wait > 0 {
			select {
			case <-time.After(wait):
			case <-c.gone:
				return
			}
			if _, ok = c.proxy.awaitOpen(c.gone); !ok {
				return
			}
		}
		if _, err := c.client.Write(r.bytes); err != nil {
			return
		}
	}
}
