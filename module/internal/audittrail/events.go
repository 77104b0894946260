package audittrail

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/internal/metrics"
)

// maxQueuedEvents bounds the events that wait for their handlers, about 1 KiB each.
const maxQueuedEvents = 1024

// eventQueue hands events to Caddy's events app one after the other. Handlers run
// synchronously and may take as long as they like, so no request waits for them: events
// that do not fit in the queue, or are left when the configuration ends, are counted and
// dropped; their lines are in the log.
type eventQueue struct {
	emit    func(name string, data map[string]any)
	active  func() bool // whether the configuration runs
	log     *zap.Logger
	waiting chan queuedEvent
	ended   atomic.Bool
	dropped metrics.Counter
}

type queuedEvent struct {
	name string
	data map[string]any
}

// newEventQueue returns nil when the configuration has no events app, to which nobody can
// subscribe. ctx is the gatehouse app's, which is the origin of its events.
func newEventQueue(ctx caddy.Context, active func() bool) (*eventQueue, error) {
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
	return &eventQueue{
		emit: func(name string, data map[string]any) {
			if events.ShouldEmit(name) {
				events.Emit(ctx, name, data)
			}
		},
		active: active, log: ctx.Logger(), waiting: make(chan queuedEvent, maxQueuedEvents), dropped: metrics.Set{}.AuditDropped(),
	}, nil
}

// put queues an event, or counts that it cannot.
func (q *eventQueue) put(name string, data map[string]any) {
	if !q.ended.Load() {
		select {
		case q.waiting <- queuedEvent{name, data}:
			return
		default:
		}
	}
	q.dropped.Inc()
}

// run emits until ctx ends. The events app starts in no fixed order with ours and changes
// its subscriptions while it does, so nothing is emitted before the whole configuration runs.
func (q *eventQueue) run(ctx context.Context) {
	defer q.dropAll()
	for !q.active() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(activePause):
		}
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
func (q *eventQueue) handle(e queuedEvent) {
	defer func() {
		if v := recover(); v != nil {
			q.log.Error("a handler of an event panicked", zap.String("event", e.name), zap.Any("panic", v))
		}
	}()
	q.emit(e.name, e.data)
}

// dropAll counts what is left, and what comes later, as dropped.
func (q *eventQueue) dropAll() {
	q.ended.Store(true)
	for {
		select {
		case <-q.waiting:
			q.dropped.Inc()
		default:
			return
		}
	}
}
