package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

// Backend is an open state file. Writes queue for one committer, which takes all
// that wait into one transaction; reads go beside it.
type Backend struct {
	handle *handle
	now    func() time.Time
	wait   time.Duration

	queue   chan *request
	closing chan struct{} // closed when Close begins
	stopped chan struct{} // closed when the committer has ended
	once    sync.Once

	compactions  chan *compaction
	compactAfter time.Time // not before; of the committer
	ended        error
	back         func() error // of asowner.Act; nil for none

	hub    hub
	keeper keeper
	damage damage
}

var (
	_ store.Backend      = (*Backend)(nil)
	_ store.SecretKeeper = (*Backend)(nil)
)

// Get implements store.Backend.
func (b *Backend) Get(ctx context.Context, key store.Key) (store.Record, error) {
	var r store.Record
	err := b.readTx(ctx, func(tx *bbolt.Tx, now int64) error {
		raw := tx.Bucket(bucketRecords).Get(recordKey(key))
		if raw == nil {
			return store.ErrNotFound
		}
		s, err := decodeStored(raw)
		if err != nil {
			return err
		}
		if !s.isLive(now) {
			return store.ErrNotFound
		}
		r = s.toRecord(key)
		return nil
	})
	return r, err
}

// List implements store.Backend.
func (b *Backend) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	var found []store.Record
	err := b.readTx(ctx, func(tx *bbolt.Tx, now int64) error {
		found = nil
		prefix := parentKey(kind, parent, "")
		begin := parentKey(kind, parent, after)
		records, c := tx.Bucket(bucketRecords), tx.Bucket(bucketParents).Cursor()
		for k, _ := c.Seek(begin); bytes.HasPrefix(k, prefix) && len(found) < limit; k, _ = c.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			key := store.Key{Kind: kind, ID: string(k[len(prefix):])}
			if key.ID == after && after != "" {
				continue
			}
			raw := records.Get(recordKey(key))
			if raw == nil { // it was damaged and is swept
				continue
			}
			s, err := decodeStored(raw)
			if err != nil {
				return err
			}
			if s.isLive(now) {
				found = append(found, s.toRecord(key))
			}
		}
		return nil
	})
	return found, err
}

// Close implements store.Backend.
func (b *Backend) Close() error {
	b.once.Do(func() {
		close(b.closing)
		<-b.stopped
		err := b.handle.closeDB()
		if b.back != nil {
			err = errors.Join(err, b.back())
		}
		if err != nil {
			b.ended = fmt.Errorf("store bolt: %w", err)
		}
	})
	return b.ended
}

// refuseReason is why no call can be served now.
func (b *Backend) refuseReason(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-b.closing:
		return errClosed
	default:
		return nil
	}
}

func (b *Backend) readTx(ctx context.Context, call func(tx *bbolt.Tx, now int64) error) error {
	if err := b.refuseReason(ctx); err != nil {
		return err
	}
	return b.markFault(b.handle.viewTx(func(tx *bbolt.Tx) error { return call(tx, b.now().UnixMilli()) }))
}

// Files are the files that must be readable for the gateway alone: the state, where
// signing keys lie sealed, and the secret that seals them when none is configured.
func (b *Backend) Files() []string { return []string{b.handle.path, b.keeper.path} }
