package grant

import (
	"context"
	"sync"
	"time"
)

const (
	// maxBacklog bounds the remembered work. There is work only while the store loses replies, at most as much as
	// was in progress when that began.
	maxBacklog = 1024
	// settleEvery is the pause while the store fails, settleTime bounds one attempt.
	settleEvery = 100 * time.Millisecond
	settleTime  = 5 * time.Second
)

// backlog is work that failed because of the store and is retried in the background. A goroutine runs until it is
// done or expires.
type backlog[K comparable, V any] struct {
	// settle does one piece of work. nil means that it is done.
	settle func(context.Context, K, V) error

	mu      sync.Mutex
	all     map[K]work[V]
	running bool
}

type work[V any] struct {
	value V
	ends  time.Time // by the clock of this process
}

func newBacklog[K comparable, V any](settle func(context.Context, K, V) error) *backlog[K, V] {
	return &backlog[K, V]{settle: settle, all: make(map[K]work[V])}
}

// add remembers a piece of work for the time left. Beyond maxBacklog it is dropped.
func (b *backlog[K, V]) add(key K, value V, left time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left <= 0 || len(b.all) >= maxBacklog {
		return
	}
	b.all[key] = work[V]{value, time.Now().Add(left)}
	if !b.running {
		b.running = true
		go b.run()
	}
}

func (b *backlog[K, V]) find(key K) (value V, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, ok := b.all[key]
	return w.value, ok
}

// run settles all work, and returns when there is none.
func (b *backlog[K, V]) run() {
	for {
		all := b.due()
		if all == nil {
			return
		}
		for key, w := range all {
			ctx, cancel := context.WithTimeout(context.Background(), settleTime)
			err := b.settle(ctx, key, w.value)
			cancel()
			if err != nil {
				// The order of a map differs each time, so one damaged record does not keep the others waiting.
				time.Sleep(settleEvery)
				break
			}
			b.mu.Lock()
			delete(b.all, key)
			b.mu.Unlock()
		}
	}
}

// due returns the work that has not expired. nil means that there is none, and the goroutine must end.
func (b *backlog[K, V]) due() map[K]work[V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	all, now := make(map[K]work[V], len(b.all)), time.Now()
	for key, w := range b.all {
		if now.Before(w.ends) {
			all[key] = w
		} else {
			delete(b.all, key)
		}
	}
	if len(all) == 0 {
		b.running = false
		return nil
	}
	return all
}
