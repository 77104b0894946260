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

// reset ends it so that the client's next call fails with a reset and not with an end.
func (c *proxied) reset() {
	c.once.Do(func() {
		_ = c.client.SetLinger(0) // close sends RST
		close(c.gone)
		_ = c.client.Close()
	})
}

// end ends it as the server did.
func (c *proxied) end() {
	c.once.Do(func() {
		close(c.gone)
		_ = c.client.Close()
	})
}

func (c *proxied) serve() {
	defer func() {
		c.end()
		c.proxy.mu.Lock()
		delete(c.proxy.conns, c)
		c.proxy.mu.Unlock()
	}()
	if _, ok := c.proxy.open(c.gone); !ok {
		return
	}
	server, err := net.Dial("tcp", c.proxy.target)
	if err != nil {
		c.reset()
		return
	}
	c.server = server
	arrived := make(chan reply, 1024)
	var all sync.WaitGroup
	all.Go(c.requests)
	all.Go(func() { c.read(arrived) })
	all.Go(func() { c.answer(arrived) })
	all.Wait()
}

// requests hands over what the client asks, also when it no longer waits for the answer.
func (c *proxied) requests() {
	defer func() { _ = c.server.Close() }()
	from := bufio.NewReaderSize(c.client, 64<<10)
	for {
		raw, command, err := readRequest(from)
		if err != nil {
			return
		}
		if _, ok := c.proxy.open(c.gone); !ok {
			return
		}
		if c.proxy.drops(command) {
			c.mu.Lock()
			c.drop = true
			c.mu.Unlock()
		}
		if _, err := c.server.Write(raw); err != nil {
			return
		}
	}
}

// reply is a piece of what the server answered, and when it did.
type reply struct {
	bytes []byte
	at    time.Time
}

func (c *proxied) read(arrived chan<- reply) {
	defer close(arrived)
	buf := make([]byte, 64<<10)
	for {
		n, err := c.server.Read(buf)
		c.mu.Lock()
		drop := c.drop
		c.mu.Unlock()
		if drop && n > 0 {
			c.reset()
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

// answer hands replies over, each when its time has come. What is behind the one that
// waits is not delayed twice.
func (c *proxied) answer(arrived <-chan reply) {
	defer c.end()
	for r := range arrived {
		latency, ok := c.proxy.open(c.gone)
		if !ok {
			return
		}
		if wait := time.Until(r.at.Add(latency)); wait > 0 {
			select {
			case <-time.After(wait):
			case <-c.gone:
				return
			}
			if _, ok = c.proxy.open(c.gone); !ok {
				return
			}
		}
		if _, err := c.client.Write(r.bytes); err != nil {
			return
		}
	}
}
