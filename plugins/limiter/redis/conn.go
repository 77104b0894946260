package redis

import (
	"context"
	"strconv"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	// minTimeout of a connection: requests stop waiting after maxWait, but the connection stays
	// for at least this long. Making a new one for every short pause of Redis would only
	// prolong the pause.
	minTimeout = 50 * time.Millisecond
	// minDialTimeout is how long connecting may take, or as long as a request waits if that is longer.
	minDialTimeout = 250 * time.Millisecond
	connections    = 64
)

// conn is what the pipelines of a source share: the client, the clocks and time limits, and
// the goroutines, which end when it is closed.
type conn struct {
	client  goredis.UniversalClient
	maxWait time.Duration    // of a request
	timeout time.Duration    // of a round trip
	now     func() time.Time // nil: the server's clock
	clock   func() time.Time // monotonic

	closing context.Context // ends with the connection
	cancel  context.CancelFunc

	mu         sync.RWMutex // held to cancel and to start goroutines; acquired after all other locks
	goroutines sync.WaitGroup
}

func newConn(settings redisconn.Settings, now func() time.Time) (*conn, error) {
	c := &conn{maxWait: settings.Timeout, now: now, clock: time.Now}
	if c.maxWait == 0 {
		c.maxWait = defaultMaxWait
	}
	wait, dial := max(minTimeout, c.maxWait*5/2), max(minDialTimeout, c.maxWait)
	c.timeout = dial + 2*wait
	var err error
	c.client, err = settings.Open(redisconn.Tuning{Dial: dial, Timeout: wait, Connections: connections})
	if err != nil {
		return nil, err
	}
	c.closing, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// close ends the round trips and waits for the goroutines. A second call does nothing.
func (c *conn) close() error {
	c.mu.Lock()
	first := !c.isClosed()
	c.cancel()
	c.mu.Unlock()
	if !first {
		return nil
	}
	err := c.client.Close()
	c.goroutines.Wait()
	return err
}

// spawn runs a function in a goroutine that close waits for. It returns false when the
// connection is closed.
func (c *conn) spawn(run func()) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.isClosed() {
		return false
	}
	c.goroutines.Go(run)
	return true
}

func (c *conn) isClosed() bool { return c.closing.Err() != nil }

// execute makes the round trip of a batch.
func (c *conn) execute(b *batch, timeout time.Duration) ([]answer, error) {
	ctx, cancel := context.WithTimeout(c.closing, timeout)
	defer cancel()
	now := serversTime
	if c.now != nil {
		now = strconv.FormatInt(max(0, c.now().UnixMilli()), 10)
	}
	return b.execute(ctx, c.client, now)
}

// wallTime is the time of a decision that Redis is not asked about.
func (c *conn) wallTime() time.Time {
	if c.now != nil {
		return c.now()
	}
	return time.Now()
}
