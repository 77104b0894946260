// Package eventqueue hands Caddy events to those who subscribe, without making a request wait for
// them. It knows nothing of what the events are about.
package eventqueue

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

// maxWaiting bounds the events that wait for their handlers, about 1 KiB each.
const maxWaiting = 1024

// Queue hands events to Caddy's events app one after the other. Handlers run
// synchronously and may take as long as they like, so no request waits for them: events
// that do not fit in the queue, or are left when the configuration ends, are counted and
// dropped. Nil is the queue of a configuration without the events app.
type Queue struct {
	ctx     context.Context
	emit    func(origin caddy.Context, name string, data map[string]any)
	heard   func() bool // whether anybody subscribes; asked once, when the configuration runs
	active  func() bool // whether the configuration runs
	log     *zap.Logger
	waiting chan event
	unheard atomic.Bool
	ended   atomic.Bool
	dropped metrics.Counter
}

type event struct {
	origin caddy.Context
	name   string
	data   map[string]any
}

// New makes a queue for events of these names, nil when the configuration has no events app, to
// which nobody can subscribe. ctx is a context of the configuration; active reports whether that
// runs.
func New(ctx caddy.Context, active func() bool, dropped metrics.Counter, names ...string) (*Queue, error) {
	v, err := ctx.AppIfConfigured("events")
	if errors.Is(err, caddy.ErrNotConfigured) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	events, ok := v.(*caddyevents.App)
	if !ok {
		return nil, nil
	}
	q := newQueue(active, dropped, ctx.Logger())
	q.ctx = ctx
	q.emit = func(origin caddy.Context, name string, data map[string]any) {
		if events.ShouldEmit(name) {
			events.Emit(origin, name, data)
		}
	}
	q.heard = func() bool { return slices.ContainsFunc(names, events.ShouldEmit) }
	return q, nil
}

func newQueue(active func() bool, dropped metrics.Counter, log *zap.Logger) *Queue {
	return &Queue{active: active, log: log, waiting: make(chan event, maxWaiting), dropped: dropped}
}

// Wanted reports whether an event may find a subscriber. Whoever makes events SHOULD ask before
// making their data.
func (q *Queue) Wanted() bool { return q != nil && !q.unheard.Load() }

// Put queues an event of the module whose context origin is, or counts that it cannot. data must
// not change afterwards.
func (q *Queue) Put(origin caddy.Context, name string, data map[string]any) {
	if !q.Wanted() {
		return
	}
	if !q.ended.Load() {
		select {
		case q.waiting <- event{origin, name, data}:
			return
		default:
		}
	}
	q.dropped.Inc()
}

// Start emits the events while the configuration runs. It is called once.
func (q *Queue) Start() {
	if q != nil {
		go q.run(q.ctx)
	}
}

// run emits until ctx ends, or returns if nobody subscribes: nobody can do so later. The events
// app starts in no fixed order with ours and changes its subscriptions while it does, so it is
// neither asked nor given anything before the whole configuration runs.
func (q *Queue) run(ctx context.Context) {
	defer q.dropAll()
	for !q.active() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(activePause):
		}
	}
	if !q.heard() {
		q.unheard.Store(true)
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-q.waiting:
			q.handle(e)
		}
	}
}

// activePause is how long to wait before asking again whether the configuration runs.
const activePause = 10 * time.Millisecond

// handle keeps a handler's panic, which net/http would recover in a request, from
// ending the process.
func (q *Queue) handle(e event) {
	defer func() {
		if v := recover(); v != nil {
			q.log.Error("a handler of an event panicked", zap.String("event", e.name), zap.Any("panic", v))
		}
	}()
	q.emit(e.origin, e.name, e.data)
}

// dropAll counts what is left, and what comes later, as dropped, unless nobody wants it.
func (q *Queue) dropAll() {
	q.ended.Store(true)
	for {
		select {
		case <-q.waiting:
			if q.Wanted() {
				q.dropped.Inc()
			}
		default:
			return
		}
	}
}
