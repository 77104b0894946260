package storetest

import (
	"cmp"
	"context"

	"github.com/gatehouse/gatehouse/module/store"
)

var _ store.Confirmer = (*Memory)(nil)

// LoseReplicas makes the store one that waits for replicas, of which there is none: every write takes effect and returns
// err all the same, and nothing is confirmed, until LoseReplicas(nil).
func (m *Memory) LoseReplicas(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alone = err
}

// orAlone is the answer of a write that found what it rests on, if there are replicas.
func (m *Memory) orAlone(answer error) error { return cmp.Or(m.alone, answer) }

// Confirm implements store.Confirmer.
func (m *Memory) Confirm(ctx context.Context, _ store.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cmp.Or(m.refuseReason(ctx), m.alone)
}

// ConfirmList implements store.Confirmer.
func (m *Memory) ConfirmList(ctx context.Context, _ store.Kind, _ string) error {
	return m.Confirm(ctx, store.Key{})
}
