package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// errClosed answers every call after Close.
var errClosed = errors.New("storetest: the store is closed")

// Memory is a store.Backend without a medium: nothing in it survives the process. It is for tests, and for them only.
type Memory struct {
	now func() time.Time

	mu       sync.Mutex
	failure  error
	lost     error
	alone    error // of a write, because no replica has it
	closed   bool
	version  uint64
	records  map[store.Key]store.Record
	children map[family]map[string]struct{}

	created   []store.Record // the last ones, for watchers
	forgotten int            // how many were created before those
	changed   chan struct{}  // closed when watchers have to look again
}

var _ store.Backend = (*Memory)(nil)

// family is what List asks for.
type family struct {
	kind   store.Kind
	parent string
}

// NewMemory returns an empty store that reads this clock; nil is time.Now.
func NewMemory(now func() time.Time) *Memory {
	if now == nil {
		now = time.Now
	}
	return &Memory{
		now:      now,
		records:  make(map[store.Key]store.Record),
		children: make(map[family]map[string]struct{}),
		changed:  make(chan struct{}),
	}
}

// Fail makes every operation from now on fail with err, and every running Watch end with it, until Fail(nil).
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failure = err
	m.wakeWatchers()
}

// LoseReply makes the next write take effect and return err all the same, as a
// store does whose reply is lost on its way.
func (m *Memory) LoseReply(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost = err
}

// Len is the number of live records.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, r := range m.records {
		if m.isLive(r) {
			n++
		}
	}
	return n
}

// OfKind lists the live records of a kind, with or without a parent, in the order of their IDs.
func (m *Memory) OfKind(kind store.Kind) (found []store.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, r := range m.records {
		if key.Kind == kind && m.isLive(r) {
			found = append(found, copyRecord(r))
		}
	}
	slices.SortFunc(found, func(a, b store.Record) int { return strings.Compare(a.ID, b.ID) })
	return found
}

// Get implements store.Backend.
func (m *Memory) Get(ctx context.Context, key store.Key) (store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuseReason(ctx); err != nil {
		return store.Record{}, err
	}
	r, ok := m.records[key]
	if !ok || !m.isLive(r) {
		return store.Record{}, store.ErrNotFound
	}
	return copyRecord(r), nil
}

// Create implements store.Backend.
func (m *Memory) Create(ctx context.Context, r store.Record) (store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuseReason(ctx); err != nil {
		return store.Record{}, err
	}
	if old, ok := m.records[r.Key]; ok {
		if m.isLive(old) {
			return store.Record{}, m.orAlone(store.ErrExists)
		}
		m.removeRecord(r.Key)
	}
	m.version++
	r = copyRecord(r)
	r.Version = m.version
	m.records[r.Key] = r
	if r.Parent != "" {
		f := family{r.Kind, r.Parent}
		if m.children[f] == nil {
			m.children[f] = make(map[string]struct{})
		}
		m.children[f][r.ID] = struct{}{}
	}
	m.created = append(m.created, r)
	if len(m.created) > backlog {
		m.created = m.created[1:]
		m.forgotten++
	}
	m.wakeWatchers()
	return m.replyTo(r)
}

// Swap implements store.Backend.
func (m *Memory) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuseReason(ctx); err != nil {
		return store.Record{}, err
	}
	old, ok := m.records[r.Key]
	switch {
	case !ok || !m.isLive(old):
		return store.Record{}, m.orAlone(store.ErrNotFound)
	case old.Version != r.Version:
		return store.Record{}, m.orAlone(store.ErrConflict)
	}
	m.version++
	r = copyRecord(r)
	r.Parent, r.Version = old.Parent, m.version
	m.records[r.Key] = r
	return m.replyTo(r)
}

// Delete implements store.Backend.
func (m *Memory) Delete(ctx context.Context, key store.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuseReason(ctx); err != nil {
		return err
	}
	m.removeRecord(key)
	_, err := m.replyTo(store.Record{})
	return err
}

// List implements store.Backend.
func (m *Memory) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.refuseReason(ctx); err != nil {
		return nil, err
	}
	var found []store.Record
	for id := range m.children[family{kind, parent}] {
		if r := m.records[store.Key{Kind: kind, ID: id}]; id > after && m.isLive(r) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b store.Record) int { return strings.Compare(a.ID, b.ID) })
	found = found[:min(len(found), max(limit, 0))]
	for i, r := range found {
		found[i] = copyRecord(r)
	}
	return found, nil
}

// Close implements store.Backend.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.wakeWatchers()
	return nil
}

// refuseReason is why no operation can be done now.
func (m *Memory) refuseReason(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.closed {
		return errClosed
	}
	return m.failure
}

// replyTo loses the answer of a write when a test asked for it.
func (m *Memory) replyTo(r store.Record) (store.Record, error) {
	if err := m.lost; err != nil {
		m.lost = nil
		return store.Record{}, err
	}
	return copyRecord(r), m.alone
}

func (m *Memory) removeRecord(key store.Key) {
	f := family{key.Kind, m.records[key].Parent}
	delete(m.records, key)
	delete(m.children[f], key.ID)
	if len(m.children[f]) == 0 {
		delete(m.children, f)
	}
}

func (m *Memory) isLive(r store.Record) bool {
	return r.Expires.IsZero() || m.now().Before(r.Expires)
}

// copyRecord copies the value, so that neither side sees what the other does to it.
func copyRecord(r store.Record) store.Record {
	r.Value = slices.Clone(r.Value)
	return r
}
