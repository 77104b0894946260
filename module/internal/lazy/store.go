package lazy

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/metrics"
	"github.com/gatehouse/gatehouse/module/store"
)

// Store is a backend that opens at first use. It counts and times each operation.
type Store struct {
	source  store.Source
	metrics metrics.Set
	backend Value[store.Backend]
	faulted atomic.Bool // an operation has failed, for Suspect
}

// NewStore makes one that source opens.
func NewStore(source store.Source) *Store { return &Store{source: source} }

// Suspect reports whether an operation has failed since it was last called.
func (s *Store) Suspect() bool { return s.faulted.Swap(false) }

// Open is the open backend itself, for its optional methods. Operations on it are not counted.
func (s *Store) Open(ctx context.Context) (store.Backend, error) {
	return s.backend.Get(ctx, s.source.Open)
}

// Close closes the backend. A later use opens it again.
func (s *Store) Close() error { return s.backend.drop(store.Backend.Close) }

// Destruct closes a store that no configuration and no request uses any more.
func (s *Store) Destruct() error { return s.Close() }

// Secret is that of the backend, for a configuration without secrets.
func (s *Store) Secret(ctx context.Context) ([]byte, error) {
	b, err := s.Open(ctx)
	if err != nil {
		return nil, err
	}
	keeper, ok := b.(store.SecretKeeper)
	if !ok {
		return nil, errors.New("this store keeps no secret of its own: set the global option `secret` of gatehouse")
	}
	return keeper.Secret(ctx)
}

// Get implements [store.Backend].
func (s *Store) Get(ctx context.Context, key store.Key) (store.Record, error) {
	return countOperation(s, ctx, "get", func(b store.Backend) (store.Record, error) { return b.Get(ctx, key) })
}

// Create implements [store.Backend].
func (s *Store) Create(ctx context.Context, r store.Record) (store.Record, error) {
	return countOperation(s, ctx, "create", func(b store.Backend) (store.Record, error) { return b.Create(ctx, r) })
}

// Swap implements [store.Backend].
func (s *Store) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	return countOperation(s, ctx, "swap", func(b store.Backend) (store.Record, error) { return b.Swap(ctx, r) })
}

// Delete implements [store.Backend].
func (s *Store) Delete(ctx context.Context, key store.Key) error {
	_, err := countOperation(s, ctx, "delete", func(b store.Backend) (struct{}, error) { return struct{}{}, b.Delete(ctx, key) })
	return err
}

// List implements [store.Backend].
func (s *Store) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	return countOperation(s, ctx, "list", func(b store.Backend) ([]store.Record, error) { return b.List(ctx, kind, parent, after, limit) })
}

// Confirm implements [store.Confirmer].
func (s *Store) Confirm(ctx context.Context, key store.Key) error {
	_, err := countOperation(s, ctx, "confirm", func(b store.Backend) (struct{}, error) { return struct{}{}, store.Confirm(ctx, b, key) })
	return err
}

// ConfirmList implements [store.Confirmer].
func (s *Store) ConfirmList(ctx context.Context, kind store.Kind, parent string) error {
	_, err := countOperation(s, ctx, "confirm", func(b store.Backend) (struct{}, error) {
		return struct{}{}, store.ConfirmList(ctx, b, kind, parent)
	})
	return err
}

// Watch is not timed: it lasts as long as the process.
func (s *Store) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	b, err := s.Open(ctx)
	if err != nil {
		return err
	}
	return b.Watch(ctx, kind, deliver)
}

func countOperation[T any](s *Store, ctx context.Context, name string, op func(store.Backend) (T, error)) (T, error) {
	begun := time.Now()
	var v T
	b, err := s.Open(ctx)
	if err == nil {
		v, err = op(b)
	}
	result := "ok"
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled) && errors.Is(ctx.Err(), context.Canceled):
		return v, err // whoever asked has gone, which says nothing about the store
	case errors.Is(err, store.ErrNotFound):
		result = "miss"
	case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrConflict):
		result = "conflict"
	default:
		result = "error"
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			s.faulted.Store(true)
		}
	}
	s.metrics.StoreOperation(name, result, time.Since(begun))
	return v, err
}
