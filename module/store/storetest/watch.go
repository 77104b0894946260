package storetest

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// batch is the most records the contract lets one call of deliver have.
	batch = 1000
	// backlog is how many created records are kept for watchers.
	backlog = 64 << 10
)

var errBehind = errors.New("storetest: the watcher is too far behind")

// Watch implements store.Backend.
func (m *Memory) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	records, next, changed, err := m.createdSince(ctx, kind, -1)
	for loaded := false; err == nil; records, next, changed, err = m.createdSince(ctx, kind, next) {
		for page := range slices.Chunk(records, batch) {
			if err := ctx.Err(); err != nil {
				return err
			}
			deliver(page)
		}
		if !loaded {
			deliver(nil)
			loaded = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
	return err
}

// createdSince returns the records of a kind that were created from number since on, or for -1 all that are live, the
// number to continue with, and a channel that is closed when there may be more.
func (m *Memory) createdSince(ctx context.Context, kind store.Kind, since int) (found []store.Record, next int, changed <-chan struct{}, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuseReason(ctx); err != nil {
		return nil, 0, nil, err
	}
	switch {
	case since < 0:
		for _, r := range m.records {
			if r.Kind == kind && m.isLive(r) {
				found = append(found, copyRecord(r))
			}
		}
	case since < m.forgotten:
		return nil, 0, nil, errBehind
	default:
		for _, r := range m.created[since-m.forgotten:] {
			if r.Kind == kind {
				found = append(found, copyRecord(r))
			}
		}
	}
	return found, m.forgotten + len(m.created), m.changed, nil
}

// wakeWatchers has every Watch look again. The caller holds the lock.
func (m *Memory) wakeWatchers() {
	close(m.changed)
	m.changed = make(chan struct{})
}
