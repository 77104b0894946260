package bolt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/store"
)

// queueLength bounds the writes that wait: with values of the greatest length they
// take a quarter of a gigabyte. Behind it, callers wait for their own context.
const queueLength = 1024

// errTooLong answers keys and values beyond the limits of the contract.
var errTooLong = errors.New("store bolt: the key or value is too long")

// request is one write on its way to the committer.
type request struct {
	ctx    context.Context //nolint:containedctx // whoever waits no longer need not be written for
	apply  func(*batch, store.Record) (store.Record, error)
	record store.Record
	create bool

	answer store.Record
	err    error
	done   chan struct{}
}

// Create implements store.Backend.
func (b *Backend) Create(ctx context.Context, r store.Record) (store.Record, error) {
	return b.writeRecord(&request{ctx: ctx, apply: (*batch).createRecord, record: r, create: true})
}

// Swap implements store.Backend.
func (b *Backend) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	r.Parent = ""
	return b.writeRecord(&request{ctx: ctx, apply: (*batch).swapRecord, record: r})
}

// Delete implements store.Backend.
func (b *Backend) Delete(ctx context.Context, key store.Key) error {
	_, err := b.writeRecord(&request{ctx: ctx, apply: (*batch).removeRecord, record: store.Record{Key: key}})
	return err
}

func (b *Backend) writeRecord(q *request) (store.Record, error) {
	if err := b.refuseReason(q.ctx); err != nil {
		return store.Record{}, err
	}
	r := &q.record
	if max(len(r.Kind), len(r.ID), len(r.Parent)) > store.MaxKeyLength || len(r.Value) > store.MaxValueLength {
		return store.Record{}, errTooLong
	}
	// The caller may be gone, and its buffer in other hands, before the committer comes to this.
	r.Value = slices.Clone(r.Value)
	q.done = make(chan struct{})
	select {
	case b.queue <- q:
	case <-q.ctx.Done():
		return store.Record{}, q.ctx.Err()
	case <-b.stopped:
		return store.Record{}, errClosed
	}
	select {
	case <-q.done:
		return q.answer, q.err
	case <-q.ctx.Done():
		return store.Record{}, q.ctx.Err()
	case <-b.stopped:
	}
	select {
	case <-q.done:
		return q.answer, q.err
	default:
		return store.Record{}, errClosed
	}
}

// markFault marks errors that are no answers of the contract as ours.
func (b *Backend) markFault(err error) error {
	switch {
	case err == nil, store.IsAnswer(err),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errClosed), errors.As(err, new(unavailable)):
		return err
	default:
		err = fmt.Errorf("store bolt: %s: %w", b.handle.path, err)
		b.damage.recordDamage(err)
		return err
	}
}
