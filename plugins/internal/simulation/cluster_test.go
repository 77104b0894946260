package simulation

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	servers  = 3
	slots    = 16384
	hostname = "redis%d.test:6379"

	// agingStep is how much longer than its TTL a key may live. miniredis updates every key when time passes, so
	// this is not done for each command.
	agingStep = 50 * time.Millisecond
)

// cluster is a Redis Cluster of which each server has a clock of its own.
type cluster struct {
	*network
	redis [servers]*miniredis.Miniredis
	skew  [servers]time.Duration
}

func newCluster(t *testing.T, seed uint64, skew [servers]time.Duration) *cluster {
	t.Helper()
	c := &cluster{network: newNetwork(seed), skew: skew}
	for i := range c.redis {
		m := miniredis.NewMiniRedis()
		conn, err := m.Dial() // which starts it
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		keys := &aging{redis: m, until: time.Now()}
		m.Server().SetPreHook(func(p *server.Peer, command string, args ...string) bool {
			switch {
			case command == "CLUSTER" && len(args) > 0 && strings.EqualFold(args[0], "SLOTS"):
				writeSlots(p)
				return true
			case command == "READONLY":
				p.WriteOK()
				return true
			case strings.HasPrefix(command, "EVAL"): // the commands of a script run at its time
				m.SetTime(time.Now().Add(c.skew[i]))
				keys.advance(time.Now())
			}
			return false
		})
		c.redis[i] = m
		t.Cleanup(m.Close)
	}
	return c
}

// aging lets the keys of a server expire.
type aging struct {
	mu    sync.Mutex
	redis *miniredis.Miniredis
	until time.Time // up to which the keys have aged
}

func (a *aging) advance(now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if passed := now.Sub(a.until); passed >= agingStep {
		a.redis.FastForward(passed)
		a.until = now
	}
}

// writeSlots answers CLUSTER SLOTS: a third of the slots lies on each server.
func writeSlots(p *server.Peer) {
	p.WriteLen(servers)
	for i := range servers {
		p.WriteLen(3)
		p.WriteInt(i * slots / servers)
		p.WriteInt((i+1)*slots/servers - 1)
		p.WriteLen(3)
		host, _, _ := strings.Cut(fmt.Sprintf(hostname, i), ":")
		p.WriteBulk(host)
		p.WriteInt(6379)
		p.WriteBulk(strings.Repeat(fmt.Sprint(i), 40))
	}
}

// config is how a node reaches the cluster.
func (c *cluster) config(node int) redisconn.Config {
	var hosts []string
	for i := range servers {
		hosts = append(hosts, fmt.Sprintf(hostname, i))
	}
	config := redisconn.Config{URL: "redis+cluster://" + strings.Join(hosts, ",")}
	config.Through(&redisconn.Network{Dial: func(_ context.Context, _, address string) (net.Conn, error) {
		for i, m := range c.redis {
			if address == fmt.Sprintf(hostname, i) {
				conn, err := m.Dial()
				if err != nil {
					return nil, err
				}
				return c.connect(route{node, i}, conn)
			}
		}
		return nil, errRefused
	}})
	return config
}
