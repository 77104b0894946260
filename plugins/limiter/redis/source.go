package redis

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	// defaultPatience is what a request may lose to an outage.
	defaultPatience = 20 * time.Millisecond
	// shortestTimeout of a connection: patience ends waiting, this ends the connection, and making
	// a new one each time that Redis takes a short break would only prolong it.
	shortestTimeout = 50 * time.Millisecond
	dialTimeout     = 250 * time.Millisecond
	connections     = 64
	maxIdleLanes    = 64
)

// config is what a [Source] is made of.
type config struct {
	settings redisconn.Settings // Timeout is how long a request waits; 0 is the default
	nodes    int                // that share the limits; 0: those that are heard of
	now      func() time.Time   // nil: the server's clock
	denials  int                // refusals that are remembered at most; negative: none
	callers  uint32             // with a key of their own under a policy whose subjects clients choose; 0: as many as fit into defaultSize
}

// Source is a [ratelimit.Source] that counts in Redis. It is safe for concurrent use.
type Source struct {
	settings redisconn.Settings
	prefix   string
	patience time.Duration
	timeout  time.Duration // of a round trip
	now      func() time.Time
	clock    func() time.Time // monotonic
	client   goredis.UniversalClient
	denials  *denials // nil: none
	fallback *ratelimit.Fallback
	nodes    *nodes
	callers  uint32
	salting  *salting

	first  sync.Once
	ending context.Context
	end    context.CancelFunc

	mu    sync.RWMutex // comes before those of lanes
	lanes map[string]*lane

	life   sync.RWMutex // comes after all others
	closed bool
	all    sync.WaitGroup // goroutines
}

var _ ratelimit.OpenSource = (*Source)(nil)

func newSource(c config) (*Source, error) {
	s := &Source{
		settings: c.settings, prefix: c.settings.Prefix, patience: c.settings.Timeout,
		now: c.now, clock: time.Now, lanes: make(map[string]*lane), callers: c.callers, salting: newSalting(),
	}
	if s.callers == 0 {
		s.callers = callersIn(defaultSize)
	}
	if s.patience == 0 {
		s.patience = defaultPatience
	}
	wait := max(shortestTimeout, s.patience*5/2)
	s.timeout = dialTimeout + 2*wait
	if c.denials >= 0 {
		s.denials = newDenials(max(c.denials, 1))
	}
	s.nodes = newNodes(c.nodes)
	var err error
	if s.fallback, err = ratelimit.NewFallback(ratelimit.FallbackConfig{Nodes: s.nodes.count}); err != nil {
		return nil, err
	}
	s.client, err = c.settings.Open(redisconn.Tuning{Dial: dialTimeout, Timeout: wait, Connections: connections})
	if err != nil {
		return nil, err
	}
	s.ending, s.end = context.WithCancel(context.Background())
	return s, nil
}

// Decide implements [ratelimit.Source]. A request that Redis has not answered when its
// patience ends is decided as in an outage; what it was charged in the meantime stays charged.
func (s *Source) Decide(ctx context.Context, r ratelimit.Request) (ratelimit.Verdict, error) {
	if err := r.Check(); err != nil {
		return ratelimit.Verdict{}, err
	}
	if err := ctx.Err(); err != nil {
		return ratelimit.Verdict{}, err
	}
	s.first.Do(func() { s.start(s.listen) })
	if len(r.Charges) == 0 {
		return ratelimit.Verdict{Admitted: true, At: s.wall(), Results: r.Results[:0]}, nil
	}
	l := s.lane(r.Charges[0].Policy.Limiter)
	if l.opened.Load() {
		return s.fallback.Decide(r)
	}
	own, ok := s.room(ctx, &r)
	if !ok {
		if err := ctx.Err(); err != nil {
			return ratelimit.Verdict{}, err
		}
		return s.fallback.Decide(r)
	}
	c := newCall(s.prefix, &r, own)
	if s.denials != nil {
		now := s.clock()
		if d := s.denials.get(c.ask, now); d != nil {
			v := d.answer.verdict(c.ask, &r, d.answer.asked, now.Sub(d.got))
			c.free()
			return v, nil
		}
	}
	trip, err := l.join(c)
	if err != nil {
		return s.fallback.Decide(r)
	}
	if trip != nil {
		l.flyOnce(trip)
	}
	var out outcome
	if s.patience <= longestOwn { // to look out for the caller's going would cost more than to wait in vain
		out = <-c.done
	} else {
		select {
		case out = <-c.done:
		case <-ctx.Done():
			l.leave(c)
			return ratelimit.Verdict{}, ctx.Err()
		}
	}
	if out.err != nil {
		if err := ctx.Err(); err != nil {
			return ratelimit.Verdict{}, err
		}
		return s.fallback.Decide(r)
	}
	v := out.answer.verdict(c.ask, &r, out.nth, 0)
	c.free()
	return v, nil
}

// Health implements [ratelimit.OpenSource]: it tells what is known from the requests and
// from the node's own reports, which begin here if there was no request yet.
func (s *Source) Health() error {
	s.first.Do(func() { s.start(s.listen) })
	if s.over() {
		return errClosed
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.lanes {
		if err := l.fault(); err != nil {
			return s.told(err)
		}
	}
	return s.told(s.nodes.fault())
}

// told makes an error fit for operators to read.
func (s *Source) told(err error) error {
	if err == nil || errors.Is(err, errOpen) {
		return err
	}
	return errors.New("limiter redis: " + s.settings.Clean(err).Error())
}

// Close implements [ratelimit.OpenSource]. Decide falls back after it.
func (s *Source) Close() error {
	s.life.Lock()
	was := s.closed
	s.closed = true
	s.life.Unlock()
	if was {
		return nil
	}
	s.end()
	err := s.client.Close()
	s.all.Wait()
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, l := range s.lanes {
		l.unwatch()
	}
	return err
}

// start runs a function until the source is closed, which waits for it.
func (s *Source) start(run func()) bool {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return false
	}
	s.all.Go(run)
	return true
}

func (s *Source) over() bool {
	s.life.RLock()
	defer s.life.RUnlock()
	return s.closed
}

// lane finds the way of a limiter's requests.
func (s *Source) lane(limiter string) *lane {
	s.mu.RLock()
	l := s.lanes[limiter]
	s.mu.RUnlock()
	if l != nil {
		return l
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if l = s.lanes[limiter]; l != nil {
		return l
	}
	if len(s.lanes) >= maxIdleLanes { // of limiters that reloads have taken away
		for name, l := range s.lanes {
			if l.idle() {
				delete(s.lanes, name)
			}
		}
	}
	l = &lane{source: s, limiter: limiter}
	s.lanes[limiter] = l
	return l
}

// run makes one round trip.
func (s *Source) run(b *batch, within time.Duration) ([]answer, error) {
	ctx, cancel := context.WithTimeout(s.ending, within)
	defer cancel()
	now := serversTime
	if s.now != nil {
		now = strconv.FormatInt(max(0, s.now().UnixMilli()), 10)
	}
	return b.run(ctx, s.client, now)
}

func (s *Source) wall() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}
