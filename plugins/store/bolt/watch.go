package bolt

import (
	"context"
	"errors"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// pageRecords is what one call of deliver may have, by the contract.
	pageRecords = 1000
	// pageBytes bounds what a Watch holds in memory while it loads.
	pageBytes = 4 << 20
	// maxBehind bounds, in bytes, what waits for one slow watcher.
	maxBehind = 32 << 20
	// recordCost is what a record costs beside its texts.
	recordCost = 128
)

var errBehind = errors.New("store bolt: the watcher is too slow, what it did not take was dropped")

// hub hands created records to the watchers of this process. There are no others: the file is locked.
type hub struct {
	mu       sync.Mutex
	watchers map[*watcher]struct{}
}

type watcher struct {
	kind    store.Kind
	ring    chan struct{}
	pending []store.Record
	bytes   int
	behind  bool
}

// Watch implements store.Backend.
func (b *Backend) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	if err := b.refuseReason(ctx); err != nil {
		return err
	}
	// Listening begins before loading, so that nothing falls between the two.
	w, remove := b.hub.addWatcher(kind)
	defer remove()
	if err := b.deliverStored(ctx, kind, deliver); err != nil {
		return err
	}
	deliver(nil)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.closing:
			return errClosed
		case <-w.ring:
		}
		pending, err := b.hub.takeRecords(w)
		for err == nil && len(pending) > 0 {
			n := min(pageRecords, len(pending))
			deliver(pending[:n:n])
			pending = pending[n:]
			err = b.refuseReason(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// deliverStored delivers what is stored.
func (b *Backend) deliverStored(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	view := func(call func(*bbolt.Tx, int64) error) error { return b.readTx(ctx, call) }
	return walkRecords(recordKey(store.Key{Kind: kind}), view, func(page []store.Record) error {
		deliver(page)
		return nil
	})
}

func (h *hub) addWatcher(kind store.Kind) (w *watcher, remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w = &watcher{kind: kind, ring: make(chan struct{}, 1)}
	h.watchers[w] = struct{}{}
	return w, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, w)
	}
}

func (h *hub) takeRecords(w *watcher) ([]store.Record, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pending := w.pending
	w.pending, w.bytes = nil, 0
	if w.behind {
		return nil, errBehind
	}
	return pending, nil
}

// notifyWatchers hands on what was created. It never waits for a watcher.
func (h *hub) notifyWatchers(requests []*request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		for _, q := range requests {
			if q.create && q.err == nil && q.record.Kind == w.kind {
				w.pushRecord(q.answer)
			}
		}
	}
}

func (w *watcher) pushRecord(r store.Record) {
	w.bytes += recordCost + len(r.ID) + len(r.Parent) + len(r.Value)
	if w.behind = w.behind || w.bytes > maxBehind; w.behind {
		w.pending = nil
	} else {
		w.pending = append(w.pending, r)
	}
	select {
	case w.ring <- struct{}{}:
	default:
	}
}
