package bolt

import (
	"bytes"
	"context"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

var _ store.Walker = (*Backend)(nil)

// Walk implements store.Walker.
func (b *Backend) Walk(ctx context.Context, visit func([]store.Record) error) error {
	return walkRecords(nil, func(call func(*bbolt.Tx, int64) error) error { return b.readTx(ctx, call) }, visit)
}

// walkRecords visits the live records whose keys begin with prefix, page by page, each read by itself: a long read
// would keep the file from using freed room.
func walkRecords(prefix []byte, view func(func(tx *bbolt.Tx, now int64) error) error, visit func([]store.Record) error) error {
	next := append([]byte{}, prefix...)
	for next != nil {
		var page []store.Record
		err := view(func(tx *bbolt.Tx, now int64) error {
			page = nil
			scanned, size := 0, 0
			c := tx.Bucket(bucketRecords).Cursor()
			k, v := c.Seek(next)
			for ; k != nil && bytes.HasPrefix(k, prefix) && scanned < pageRecords && size < pageBytes; k, v = c.Next() {
				scanned++
				s, err := decodeStored(v)
				if err != nil {
					return err
				}
				if s.isLive(now) {
					page = append(page, s.toRecord(splitRecordKey(k)))
					size += len(v)
				}
			}
			next = nil
			if k != nil && bytes.HasPrefix(k, prefix) {
				next = bytes.Clone(k)
			}
			return nil
		})
		if err == nil && len(page) > 0 {
			err = visit(page)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// snapshotFile is a state file that is open for reading only.
type snapshotFile struct{ db *bbolt.DB }

// Walk implements store.Walker.
func (f *snapshotFile) Walk(ctx context.Context, visit func([]store.Record) error) error {
	view := func(call func(*bbolt.Tx, int64) error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return f.view(func(tx *bbolt.Tx) error { return call(tx, time.Now().UnixMilli()) })
	}
	return walkRecords(nil, view, visit)
}

func (f *snapshotFile) view(call func(*bbolt.Tx) error) error {
	return recoverPanic(func() error { return f.db.View(call) })
}

// Close closes the file.
func (f *snapshotFile) Close() error { return recoverPanic(f.db.Close) }
