package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	// usualTimeout leaves room in the 300 ms within which a request is told that the
	// store is away for the question that settles a write without an answer.
	usualTimeout = 200 * time.Millisecond
	// maxReplicas bounds the write concern.
	maxReplicas = 16
	// connections to each server. Most callers wait for the network, so they need few.
	connections = 32
)

// Options say which Redis to use and how.
type Options struct {
	// Settings reach it. Required.
	Settings redisconn.Settings
	// Replicas must have each write before it counts. 0: the primary alone.
	Replicas int
	// Watched are the kinds of which Watch can tell. All records of such a kind lie on
	// one server of a cluster. Nil: those of store.WatchedKinds.
	Watched []store.Kind
	// Logger must outlive the backend. Nil: nothing is logged.
	Logger *zap.Logger
	// Now is the clock of every expiry. Nil: that of Redis, which all nodes share.
	Now func() time.Time
}

// Backend is a store in Redis.
type Backend struct {
	layout
	client      goredis.UniversalClient
	settings    redisconn.Settings
	timeout     time.Duration
	wait        redisconn.Wait
	now         func() time.Time
	log         *zap.Logger
	versions    *versions
	condition   condition
	unconfirmed *unconfirmed
	forgetting  atomic.Bool // forgetGone is at work

	mu      sync.Mutex // guards closed, ended and running.Add
	closed  bool
	closing context.Context // ends at Close
	stop    context.CancelFunc
	running sync.WaitGroup
	ended   error
}

var (
	_ store.Backend   = (*Backend)(nil)
	_ store.Confirmer = (*Backend)(nil)
)

// Open makes the backend. It waits for no server.
func Open(o Options) (*Backend, error) {
	if o.Replicas < 0 || o.Replicas > maxReplicas {
		return nil, fmt.Errorf("store redis: replicas: expected at most %d", maxReplicas)
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	if o.Watched == nil {
		o.Watched = store.WatchedKinds()
	}
	timeout := cmp.Or(o.Settings.Timeout, usualTimeout)
	client, err := o.Settings.Open(redisconn.Tuning{Dial: timeout, Timeout: timeout, Connections: connections})
	if err != nil {
		return nil, fmt.Errorf("store redis: %w", o.Settings.Clean(err))
	}
	closing, stop := context.WithCancel(context.Background())
	b := &Backend{
		layout:      layout{o.Settings.Prefix, make(map[store.Kind]bool)},
		client:      client,
		settings:    o.Settings,
		timeout:     timeout,
		wait:        redisconn.Wait{Replicas: o.Replicas, Timeout: timeout / 2}, // Redis may be 100 ms late
		now:         o.Now,
		log:         o.Logger,
		versions:    newVersions(),
		unconfirmed: newUnconfirmed(maxUnconfirmed, time.Now),
		closing:     closing,
		stop:        stop,
	}
	for _, kind := range o.Watched {
		b.watched[kind] = true
	}
	b.spawn(b.inspectServers)
	return b, nil
}

// Close implements store.Backend.
func (b *Backend) Close() error {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		b.stop()
		if err := b.client.Close(); err != nil && !errors.Is(err, goredis.ErrClosed) {
			b.ended = fmt.Errorf("store redis: %w", b.settings.Clean(err))
		}
	}
	ended := b.ended
	b.mu.Unlock()
	b.running.Wait()
	return ended
}

// spawn runs a goroutine that Close ends and waits for.
func (b *Backend) spawn(run func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.running.Go(func() { run(b.closing) })
}
