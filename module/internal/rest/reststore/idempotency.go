package reststore

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/store"
)

// Idempotency keeps the records of Idempotency-Key, and how many keys were used. It implements
// idempotent.Ledger and idempotent.Tallies.
type Idempotency struct{ Backend store.Backend }

func idempotencyKey(id string) store.Key { return store.Key{Kind: store.KindIdempotency, ID: id} }
func tallyKey(owner string) store.Key    { return store.Key{Kind: store.KindKeyTally, ID: owner} }

// Get implements idempotent.Ledger.
func (l Idempotency) Get(ctx context.Context, id string) (idempotent.Record, uint64, error) {
	var v store.Idempotency
	r, err := store.Read(ctx, l.Backend, idempotencyKey(id), &v)
	if err != nil {
		return idempotent.Record{}, 0, idempotencyError(err)
	}
	return idempotent.Record{
		Digest: v.Digest, State: idempotent.State(v.State), Attempt: v.Attempt, Lease: v.Lease, Status: v.Status, Answer: v.Answer,
	}, r.Version, nil
}

// Create implements idempotent.Ledger.
func (l Idempotency) Create(ctx context.Context, id string, r idempotent.Record, expires time.Time) (uint64, error) {
	value, err := encodeIdempotency(r)
	if err != nil {
		return 0, err
	}
	made, err := l.Backend.Create(ctx, store.Record{Key: idempotencyKey(id), Value: value, Expires: expires})
	return made.Version, idempotencyError(err)
}

// Swap implements idempotent.Ledger.
func (l Idempotency) Swap(ctx context.Context, id string, version uint64, r idempotent.Record, expires time.Time) error {
	value, err := encodeIdempotency(r)
	if err != nil {
		return err
	}
	_, err = l.Backend.Swap(ctx, store.Record{Key: idempotencyKey(id), Value: value, Version: version, Expires: expires})
	return idempotencyError(err)
}

// GetTally implements idempotent.Tallies.
func (l Idempotency) GetTally(ctx context.Context, owner string) (idempotent.Tally, uint64, error) {
	var v store.KeyTally
	r, err := store.Read(ctx, l.Backend, tallyKey(owner), &v)
	if errors.Is(err, store.ErrNotFound) {
		return idempotent.Tally{}, 0, nil
	}
	return idempotent.Tally{Hours: v.Hours}, r.Version, err
}

// PutTally implements idempotent.Tallies.
func (l Idempotency) PutTally(ctx context.Context, owner string, version uint64, t idempotent.Tally, expires time.Time) error {
	value, err := store.Encode(&store.KeyTally{Hours: t.Hours})
	if err != nil {
		return err
	}
	written, err := store.Put(ctx, l.Backend, store.Record{Key: tallyKey(owner), Value: value, Version: version, Expires: expires})
	if err == nil && !written {
		return idempotent.ErrConflict
	}
	return err
}

func encodeIdempotency(r idempotent.Record) ([]byte, error) {
	return store.Encode(&store.Idempotency{
		Digest: r.Digest, State: string(r.State), Attempt: r.Attempt, Lease: r.Lease, Status: r.Status, Answer: r.Answer,
	})
}

// idempotencyError turns the store's errors into those of package idempotent.
func idempotencyError(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return idempotent.ErrNotFound
	case errors.Is(err, store.ErrExists):
		return idempotent.ErrExists
	case errors.Is(err, store.ErrConflict):
		return idempotent.ErrConflict
	}
	return err
}
