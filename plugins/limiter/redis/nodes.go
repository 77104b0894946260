package redis

import (
	"context"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	// reportEvery is also how long a node does not know of a new one: if Redis went away until then, it would admit too large a
	// part.
	reportEvery = time.Second
	// nodeExpiry is how long after its last report a node counts as sharing the limits.
	nodeExpiry = 15 * time.Second
	// assumedNodes is the number of nodes until Redis has been reached once. A number that is
	// too high admits too little in an outage, and one that is too low too much.
	assumedNodes = 8
)

// reportScript records that a node is alive, counts the nodes that are, by the server's clock,
// and agrees on a salt: that of the first node, unless the server has lost it.
var reportScript = redisconn.NewScript(`
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2] * 2)
redis.call('SET', KEYS[2], ARGV[3], 'NX', 'EX', ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4], 'GT')
return {redis.call('ZCARD', KEYS[1]), redis.call('GET', KEYS[2])}`)

// nodes is the number of processes that share the limits: as configured, or as last reported.
type nodes struct {
	configured int
	name       string // this one's

	mu        sync.Mutex
	lastCount int
	fewer     time.Time // since when all reports have counted fewer; zero: they have not
	err       error     // of the last report
}

func newNodes(configured int) *nodes {
	// A seed of maphash is random, which is enough for a name that nobody trusts.
	return &nodes{configured: configured, name: strconv.FormatUint(maphash.String(maphash.MakeSeed(), "node"), 36)}
}

func (n *nodes) count() int {
	if n.configured > 0 {
		return n.configured
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lastCount == 0 {
		return assumedNodes
	}
	return n.lastCount
}

// recordReport keeps the last known number if a report failed. A lower number is taken over
// only after nodeExpiry: a Redis that has just come back empty knows only the nodes that have
// reported since, and each of them would admit too large a part in the next outage.
func (n *nodes) recordReport(heard int, err error, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.err = err
	heard = max(1, heard)
	switch {
	case err != nil:
		n.fewer = time.Time{}
	case heard < n.lastCount && n.fewer.IsZero():
		n.fewer = now
	case heard >= n.lastCount || now.Sub(n.fewer) >= nodeExpiry:
		n.lastCount, n.fewer = heard, time.Time{}
	}
}

func (n *nodes) reportError() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// reportNodes reports this node, also before its first request, until it is closed.
func (s *Source) reportNodes() {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for s.conn.closing.Err() == nil {
		_ = s.reportNode() // kept for Health
		select {
		case <-s.conn.closing.Done():
		case <-tick.C:
		}
	}
}

// reportNode runs the script once: it reports this node and learns how many there are.
func (s *Source) reportNode() error {
	ctx, cancel := context.WithTimeout(s.conn.closing, s.conn.timeout)
	defer cancel()
	nodes := s.prefix + "limit:nodes"
	keys := []string{nodes, s.prefix + "limit:salt{" + nodes + "}"} // in one slot of a cluster
	reply, err := reportScript.Run(ctx, s.conn.client, keys, s.nodes.name, int(nodeExpiry/time.Second), s.salt.proposedSalt(), int(s.salt.lifetime()/time.Second))
	var n int64
	var text string
	if list, ok := reply.([]any); ok && len(list) == 2 {
		n, _ = list[0].(int64)
		text, _ = list[1].(string)
	}
	s.salt.setReported(text)
	s.nodes.recordReport(int(n), err, s.conn.clock())
	return err
}
