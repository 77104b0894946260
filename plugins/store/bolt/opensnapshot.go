package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/asowner"
)

var _ store.FileSource = (*Bolt)(nil)

// Files implements store.FileSource.
func (b *Bolt) Files() (state, secret string) { return b.resolved, b.resolved + secretSuffix }

// OpenStopped implements store.FileSource.
func (b *Bolt) OpenStopped(ctx context.Context) (store.Backend, error) {
	back, err := asowner.Act(cmp.Or(b.named, b.resolved))
	if err != nil {
		return nil, fmt.Errorf("store bolt: %s: %w", b.resolved, err)
	}
	backend, err := b.openFile(ctx)
	if err != nil {
		return nil, errors.Join(err, back())
	}
	backend.back = back
	return backend, nil
}

// OpenSnapshot implements store.FileSource.
func (*Bolt) OpenSnapshot(path string) (store.OpenSnapshot, error) {
	f, err := openSnapshotFile(path)
	if err != nil {
		return nil, err // not a typed nil in the interface
	}
	return f, nil
}

// openSnapshotFile opens a state file for reading only and checks it.
func openSnapshotFile(path string) (*snapshotFile, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() == 0:
		return nil, fmt.Errorf("%s is empty", path)
	}
	var file *os.File
	f := new(snapshotFile)
	err = recoverPanic(func() (err error) {
		f.db, err = bbolt.Open(path, 0, &bbolt.Options{
			ReadOnly: true, Timeout: lockWait,
			OpenFile: func(name string, flag int, mode fs.FileMode) (opened *os.File, err error) {
				opened, err = os.OpenFile(name, flag, mode)
				file = opened
				return opened, err
			},
		})
		return err
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%s is in use by a gateway: `caddy gatehouse backup` copies a state that is in use", path)
	case errors.As(err, new(panicError)):
		_ = unlockFile(file)
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("%s is no state file, or is damaged: %w", path, err)
	}
	err = recoverPanic(func() error { return checkLength(f.db, file) })
	if err == nil {
		err = f.view(checkBuckets)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// checkBuckets reads everything and checks that every record is in the indexes that find it.
func checkBuckets(tx *bbolt.Tx) error {
	if err := checkSchema(tx); err != nil {
		return err
	}
	records, parents, expiry := tx.Bucket(bucketRecords), tx.Bucket(bucketParents), tx.Bucket(bucketExpiry)
	if records == nil || parents == nil || expiry == nil {
		return errors.New("it was not made by gatehouse")
	}
	found := func(index *bbolt.Bucket, key []byte) bool {
		at, _ := index.Cursor().Seek(key)
		return string(at) == string(key)
	}
	err := records.ForEach(func(k, v []byte) error {
		s, err := decodeStored(v)
		if err != nil {
			return err
		}
		key := splitRecordKey(k)
		if len(s.parent) > 0 && !found(parents, parentKey(key.Kind, string(s.parent), key.ID)) || s.expires != never && !found(expiry, expiryKey(s.expires, k)) {
			return errors.New("it is damaged: a record is missing in an index")
		}
		return nil
	})
	for _, index := range []*bbolt.Bucket{parents, expiry} {
		if err == nil {
			err = index.ForEach(func(_, _ []byte) error { return nil })
		}
	}
	return err
}
