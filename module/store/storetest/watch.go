package storetest

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// batch is the most records the contract lets one call of deliver have.
	batch = 1000
	// backlog is how many records a watcher may be behind before it is told so,
	// instead of filling the memory.
	backlog = 64 << 10
)

var errBehind = errors.New("storetest: the watcher is too far behind")

// watcher is one running Watch.
type watcher struct {
	kind    store.Kind
	pending []store.Record
	behind  bool
	changed chan struct{}
}

// Watch implements store.Backend.
func (m *Memory) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	w := &watcher{kind: kind, changed: make(chan struct{}, 1)}
	loaded, err := m.registerWatcher(ctx, w)
	if err != nil {
		return err
	}
	defer m.unregister(w)
	if err := deliverPages(ctx, loaded, deliver); err != nil {
		return err
	}
	deliver(nil)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.changed:
		}
		pending, err := m.takeRecords(ctx, w)
		if err != nil {
			return err
		}
		if err := deliverPages(ctx, pending, deliver); err != nil {
			return err
		}
	}
}

// registerWatcher begins to collect and loads in one step, so that nothing is missed.
func (m *Memory) registerWatcher(ctx context.Context, w *watcher) ([]store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuseReason(ctx); err != nil {
		return nil, err
	}
	m.watchers[w] = struct{}{}
	var loaded []store.Record
	for _, r := range m.records {
		if r.Kind == w.kind && m.isLive(r) {
			loaded = append(loaded, copyRecord(r))
		}
	}
	return loaded, nil
}

func (m *Memory) unregister(w *watcher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.watchers, w)
}

func (m *Memory) takeRecords(ctx context.Context, w *watcher) ([]store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuseReason(ctx); err != nil {
		return nil, err
	}
	if w.behind {
		return nil, errBehind
	}
	pending := w.pending
	w.pending = nil
	return pending, nil
}

func deliverPages(ctx context.Context, records []store.Record, deliver func([]store.Record)) error {
	for len(records) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(batch, len(records))
		deliver(records[:n:n])
		records = records[n:]
	}
	return nil
}

func (m *Memory) notifyWatchers(r store.Record) {
	for w := range m.watchers {
		if w.kind != r.Kind || w.behind {
			continue
		}
		if len(w.pending) == backlog {
			w.pending, w.behind = nil, true
		} else {
			w.pending = append(w.pending, copyRecord(r))
		}
		w.wakeUp()
	}
}

func (m *Memory) wakeWatchers() {
	for w := range m.watchers {
		w.wakeUp()
	}
}

func (w *watcher) wakeUp() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}
