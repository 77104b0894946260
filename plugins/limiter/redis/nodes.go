package redis

import (
	"context"
	"errors"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	reportEvery = 5 * time.Second
	// goneAfter so many reports that did not come, a node shares the limits no longer.
	goneAfter = 3 * reportEvery
	// unheard is how many nodes there are to one that has never reached Redis: too many let too
	// little through in an outage, too few too much.
	unheard = 8
)

// report notes that a node is there, counts those that are, by the server's clock, and
// agrees on a salt: that of the first node, unless the server has lost it.
var report = redisconn.NewScript(`
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2] * 2)
redis.call('SET', KEYS[2], ARGV[3], 'NX', 'EX', ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4], 'GT')
return {redis.call('ZCARD', KEYS[1]), redis.call('GET', KEYS[2])}`)

// nodes is how many processes share the limits: as configured, or as last heard.
type nodes struct {
	configured int
	name       string // this one's

	mu    sync.Mutex
	heard int
	fewer time.Time // since when, without a break, fewer have been heard of; zero: not now
	err   error     // of the last report
}

func newNodes(configured int) *nodes {
	// A seed of maphash is random, which is all that is asked of a name that nobody trusts.
	return &nodes{configured: configured, name: strconv.FormatUint(maphash.String(maphash.MakeSeed(), "node"), 36)}
}

func (n *nodes) count() int {
	if n.configured > 0 {
		return n.configured
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.heard == 0 {
		return unheard
	}
	return n.heard
}

// note keeps the last known number when there is no newer one. A lower one has to last: a
// Redis that has just come back empty knows only of those who reported since, and in the next
// outage each of them would take too large a part.
func (n *nodes) note(heard int, err error, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.err = err
	heard = max(1, heard)
	switch {
	case err != nil:
		n.fewer = time.Time{}
	case heard < n.heard && n.fewer.IsZero():
		n.fewer = now
	case heard >= n.heard || now.Sub(n.fewer) >= goneAfter:
		n.heard, n.fewer = heard, time.Time{}
	}
}

func (n *nodes) fault() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// listen reports this node now and then, from the first request on.
func (s *Source) listen() {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-s.ending.Done():
			return
		case <-wait.C:
		}
		err := s.report()
		if errors.Is(s.ending.Err(), context.Canceled) {
			return
		}
		if err != nil {
			wait.Reset(time.Second) // whoever asks for Health wants to hear of the end of an outage
		} else {
			wait.Reset(reportEvery)
		}
	}
}

func (s *Source) report() error {
	ctx, cancel := context.WithTimeout(s.ending, s.timeout)
	defer cancel()
	there := s.prefix + "limit:nodes"
	keys := []string{there, s.prefix + "limit:salt{" + there + "}"} // in one slot of a cluster
	reply, err := report.Run(ctx, s.client, keys, s.nodes.name, int(goneAfter/time.Second), s.salting.proposal(), int(s.salting.lifetime()/time.Second))
	var n int64
	var text string
	if list, ok := reply.([]any); ok && len(list) == 2 {
		n, _ = list[0].(int64)
		text, _ = list[1].(string)
	}
	s.salting.note(text)
	s.nodes.note(int(n), err, s.clock())
	return err
}
