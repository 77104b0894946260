package watch

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// MaxWatchers bounds those who watch at the same time: each makes every request a little more expensive.
	MaxWatchers = 4
	// buffered is how many decisions wait for one watcher, about 1 KiB each. What comes on top is lost to it,
	// because no request waits for a watcher.
	buffered = 1024
)

// ErrTooMany refuses a watcher.
var ErrTooMany = errors.New("watch: there are too many watchers")

// Feed distributes decisions. It is safe for concurrent use; a nil Feed has no watchers.
type Feed struct {
	watchers atomic.Pointer[[]*Watcher] // nil while nobody watches
	mu       sync.Mutex                 // for changes of watchers
	closed   chan struct{}
	once     sync.Once
	servers  map[*http.Server]chan struct{} // that serve watchers; guarded by mu
}

// NewFeed makes a feed.
func NewFeed() *Feed {
	return &Feed{closed: make(chan struct{}), servers: make(map[*http.Server]chan struct{})}
}

// Destruct ends all watchers.
func (f *Feed) Destruct() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

// Closed is closed when no configuration uses the feed any more.
func (f *Feed) Closed() <-chan struct{} { return f.closed }

// Shutdown returns a channel that is closed when a server begins to shut down, as Caddy's admin endpoint does
// whenever a configuration is loaded. A server keeps what is registered with it, so each is asked once.
func (f *Feed) Shutdown(server *http.Server) <-chan struct{} {
	if server == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	begun, ok := f.servers[server]
	if !ok {
		begun = make(chan struct{})
		f.servers[server] = begun
		server.RegisterOnShutdown(func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.servers, server)
			close(begun)
		})
	}
	return begun
}

// Watched reports whether anybody watches. It is all that a request costs while nobody does.
func (f *Feed) Watched() bool { return f != nil && f.watchers.Load() != nil }

// Publish gives a decision to those whose filter it matches, and never blocks.
func (f *Feed) Publish(d *Decision) {
	all := f.watchers.Load()
	if all == nil {
		return
	}
	d.shorten()
	for _, w := range *all {
		if !w.filter.matches(d) {
			continue
		}
		select {
		case w.decisions <- d:
		default:
			w.lost.Add(1)
		}
	}
}

// Watcher receives decisions.
type Watcher struct {
	feed      *Feed
	filter    Filter
	decisions chan *Decision
	lost      atomic.Int64
}

// Subscribe adds a watcher, or returns [ErrTooMany]. The caller MUST call Close.
func (f *Feed) Subscribe(filter Filter) (*Watcher, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*Watcher
	if now := f.watchers.Load(); now != nil {
		all = *now
	}
	if len(all) >= MaxWatchers {
		return nil, ErrTooMany
	}
	w := &Watcher{feed: f, filter: filter, decisions: make(chan *Decision, buffered)}
	all = append(slices.Clone(all), w)
	f.watchers.Store(&all)
	return w, nil
}

// Decisions are those that match the filter. They are shared: do not change them.
func (w *Watcher) Decisions() <-chan *Decision { return w.decisions }

// Lost returns how many decisions were lost since the last call.
func (w *Watcher) Lost() int64 { return w.lost.Swap(0) }

// Close removes the watcher. A second call does nothing.
func (w *Watcher) Close() {
	f := w.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.watchers.Load()
	if now == nil {
		return
	}
	left := slices.DeleteFunc(slices.Clone(*now), func(o *Watcher) bool { return o == w })
	if len(left) == 0 {
		f.watchers.Store(nil)
		return
	}
	f.watchers.Store(&left)
}
