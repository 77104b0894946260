package redis

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	// defaultMaxWait is how long a request waits for Redis before it is decided as in an outage.
	defaultMaxWait   = 20 * time.Millisecond
	maxIdlePipelines = 1024
)

var errClosed = errors.New("limiter redis: closed")

// config is the configuration of a [Source].
type config struct {
	settings redisconn.Settings // Timeout is how long a request waits; 0 is the default
	nodes    int                // that share the limits; 0: those that report to Redis
	now      func() time.Time   // nil: the server's clock
	denials  int                // refusals that are remembered at most; negative: none
	leases   int                // requests of which some are leased at most; 0: none
	clock    func() time.Time   // of this machine; nil: time.Now
	callers  uint32             // with a key of their own under a policy whose subjects clients choose; 0: as many as fit into defaultSize
}

// Source is a [ratelimit.Source] that counts in Redis. It is safe for concurrent use.
//
// A request that no lease admits passes from Decide to the pipeline of its [place], which sends batches over the
// connection, which runs the script.
type Source struct {
	settings redisconn.Settings
	prefix   string
	conn     *conn
	denials  *denials // nil: none
	leases   *leases  // nil: none
	fallback *ratelimit.Fallback
	nodes    *nodes
	callers  uint32
	salt     *saltState

	startReturns sync.Once

	mu        sync.RWMutex // acquired before those of pipelines
	pipelines map[place]*pipeline
}

var _ ratelimit.OpenSource = (*Source)(nil)

func newSource(c config) (*Source, error) {
	s := &Source{
		settings: c.settings, prefix: c.settings.Prefix, pipelines: make(map[place]*pipeline),
		callers: c.callers, salt: newSaltState(), nodes: newNodes(c.nodes),
	}
	if s.callers == 0 {
		s.callers = callersIn(defaultSize)
	}
	if c.denials >= 0 {
		s.denials = newDenials(max(c.denials, 1))
	}
	if c.leases > 0 {
		s.leases = newLeases(c.leases)
	}
	var err error
	if s.fallback, err = ratelimit.NewFallback(ratelimit.FallbackConfig{Nodes: s.nodes.count}); err != nil {
		return nil, err
	}
	if s.conn, err = newConn(c.settings, c.now); err != nil {
		return nil, err
	}
	if c.clock != nil {
		s.conn.clock = c.clock
	}
	s.conn.spawn(s.reportNodes)
	return s, nil
}

// Decide implements [ratelimit.Source]. A request that Redis has not answered within
// maxWait is decided as in an outage; what Redis charged it meanwhile stays charged.
func (s *Source) Decide(ctx context.Context, r ratelimit.Request) (ratelimit.Verdict, error) {
	if err := r.Check(); err != nil {
		return ratelimit.Verdict{}, err
	}
	if err := ctx.Err(); err != nil {
		return ratelimit.Verdict{}, err
	}
	if len(r.Charges) == 0 {
		return ratelimit.Verdict{Admitted: true, At: s.conn.wallTime(), Results: r.Results[:0]}, nil
	}
	budget, ok := s.keyBudget(ctx, &r)
	if !ok {
		return s.decideInOutage(ctx, r)
	}
	if s.settings.Cluster() && isDivided(&r) {
		return s.decideDivided(ctx, &r, budget)
	}
	p := s.pipelineOf(&r, &budget)
	if p.opened.Load() {
		return s.fallback.Decide(r)
	}
	v, err := s.decideCall(ctx, p, newCall(p.head, &r, budget), &r)
	if err != nil {
		return s.decideInOutage(ctx, r)
	}
	return v, nil
}

// decideCall decides on a call by a lease, by a refusal that is remembered, or by Redis, and releases it. An error
// means that Redis did not answer.
func (s *Source) decideCall(ctx context.Context, p *pipeline, c *call, r *ratelimit.Request) (ratelimit.Verdict, error) {
	v, ok := s.useLease(c, r)
	if !ok {
		v, ok = s.knownRefusal(c, r)
	}
	if !ok {
		out := p.decide(ctx, c)
		if out.err != nil {
			return v, out.err
		}
		if v = out.answer.verdict(c.encodedRequest, r, out.index, 0); !v.Admitted {
			v = s.leasedInstead(c, r, v)
		}
	}
	c.release()
	return v, nil
}

// knownRefusal returns a refusal that Redis would repeat, if one is remembered.
func (s *Source) knownRefusal(c *call, r *ratelimit.Request) (v ratelimit.Verdict, ok bool) {
	if s.denials == nil {
		return v, false
	}
	now := s.conn.clock()
	d := s.denials.find(c.encodedRequest, now)
	if d == nil {
		return v, false
	}
	return d.answer.verdict(c.encodedRequest, r, d.answer.asked, now.Sub(d.got)), true
}

// decideInOutage decides without Redis, unless the caller has gone away.
func (s *Source) decideInOutage(ctx context.Context, r ratelimit.Request) (ratelimit.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return ratelimit.Verdict{}, err
	}
	return s.fallback.Decide(r)
}

// Health implements [ratelimit.OpenSource]. It sends nothing: it returns what requests and
// the node's own reports have found.
func (s *Source) Health() error {
	if s.conn.isClosed() {
		return errClosed
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range s.pipelines {
		if err := p.outageError(); err != nil {
			return s.cleanError(err)
		}
	}
	return s.cleanError(s.nodes.reportError())
}

// cleanError removes secrets from an error that operators read.
func (s *Source) cleanError(err error) error {
	if err == nil || errors.Is(err, errTimeout) {
		return err
	}
	return errors.New("limiter redis: " + s.settings.Clean(err).Error())
}

// Close implements [ratelimit.OpenSource]. Decide falls back after it.
func (s *Source) Close() error {
	if s.leases != nil && !s.conn.isClosed() {
		s.giveBackUnused(true)
	}
	return s.conn.close()
}

// pipelineOf returns the pipeline of a request's place, of which it notes the part of the budget.
func (s *Source) pipelineOf(r *ratelimit.Request, budget *keyBudget) *pipeline {
	at := s.placeOf(r, *budget)
	budget.callers = at.callers(budget.callers)
	return s.pipeline(at)
}

// pipeline returns the pipeline of a place.
func (s *Source) pipeline(at place) *pipeline {
	s.mu.RLock()
	p := s.pipelines[at]
	s.mu.RUnlock()
	if p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p = s.pipelines[at]; p != nil {
		return p
	}
	if len(s.pipelines) >= maxIdlePipelines { // of limiters that reloads have removed
		maps.DeleteFunc(s.pipelines, func(_ place, p *pipeline) bool { return p.isIdle() })
	}
	p = &pipeline{conn: s.conn, denials: s.denials, leases: s.leases, head: s.prefix + "limit:" + at.tag()}
	s.pipelines[at] = p
	return p
}
