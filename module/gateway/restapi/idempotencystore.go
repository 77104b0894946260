package restapi

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/idempotent"
	"github.com/gatehouse/gatehouse/module/store"
)

// ledger keeps the records of Idempotency-Key in the gateway's store.
type ledger struct{ backend store.Backend }

func idempotencyKey(id string) store.Key { return store.Key{Kind: store.KindIdempotency, ID: id} }
func tallyKey(owner string) store.Key    { return store.Key{Kind: store.KindKeyTally, ID: owner} }

// Get implements idempotent.Ledger.
func (l ledger) Get(ctx context.Context, id string) (idempotent.Record, uint64, error) {
	var v store.Idempotency
	r, err := store.Read(ctx, l.backend, idempotencyKey(id), &v)
	if err != nil {
		return idempotent.Record{}, 0, ledgerError(err)
	}
	return idempotent.Record{
		Digest: v.Digest, State: idempotent.State(v.State), Attempt: v.Attempt, Lease: v.Lease, Status: v.Status, Answer: v.Answer,
	}, r.Version, nil
}

// Create implements idempotent.Ledger.
func (l ledger) Create(ctx context.Context, id string, r idempotent.Record, expires time.Time) (uint64, error) {
	value, err := encodeIdempotency(r)
	if err != nil {
		return 0, err
	}
	made, err := l.backend.Create(ctx, store.Record{Key: idempotencyKey(id), Value: value, Expires: expires})
	return made.Version, ledgerError(err)
}

// Swap implements idempotent.Ledger.
func (l ledger) Swap(ctx context.Context, id string, version uint64, r idempotent.Record, expires time.Time) error {
	value, err := encodeIdempotency(r)
	if err != nil {
		return err
	}
	_, err = l.backend.Swap(ctx, store.Record{Key: idempotencyKey(id), Value: value, Version: version, Expires: expires})
	return ledgerError(err)
}

// GetTally implements idempotent.Tallies.
func (l ledger) GetTally(ctx context.Context, owner string) (idempotent.Tally, uint64, error) {
	var v store.KeyTally
	r, err := store.Read(ctx, l.backend, tallyKey(owner), &v)
	if errors.Is(err, store.ErrNotFound) {
		return idempotent.Tally{}, 0, nil
	}
	return idempotent.Tally{Hours: v.Hours}, r.Version, err
}

// PutTally implements idempotent.Tallies.
func (l ledger) PutTally(ctx context.Context, owner string, version uint64, t idempotent.Tally, expires time.Time) error {
	value, err := store.Encode(&store.KeyTally{Hours: t.Hours})
	if err != nil {
		return err
	}
	written, err := store.Put(ctx, l.backend, store.Record{Key: tallyKey(owner), Value: value, Version: version, Expires: expires})
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

// ledgerError turns the store's answers into those of package idempotent.
func ledgerError(err error) error {
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
