package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

// snapshotSuffix makes the name of the copy that a snapshot is read from. Whoever reads it may be slow, and a
// transaction that stays open keeps the file growing, so it is not read from the state file itself. Opening the state
// removes a file of this name, so it must be one that nobody gives a backup.
const snapshotSuffix = ".snapshot-copy.tmp"

var _ store.Snapshotter = (*Backend)(nil)

// Snapshot implements store.Snapshotter. Until it is closed, the copy needs as much free space beside the state file as
// the state takes.
func (b *Backend) Snapshot(ctx context.Context) (*store.Snapshot, error) {
	if err := b.refuseReason(ctx); err != nil {
		return nil, err
	}
	// Two copies at a time would fight for the disk. A compaction would wait for ours with the lock that every call needs.
	if !b.handle.copying.TryLock() {
		return nil, fmt.Errorf("store bolt: %w", store.ErrBusy)
	}
	defer b.handle.copying.Unlock()
	spool, err := openSpool(b.handle.path + snapshotSuffix)
	if err != nil {
		return nil, fmt.Errorf("store bolt: %w", err)
	}
	s := &store.Snapshot{ReadCloser: spool, SecretFile: b.keeper.path}
	s.Size, err = b.copyState(spool)
	if err == nil {
		_, err = spool.Seek(0, 0)
	}
	if err != nil {
		_ = spool.Close()
		return nil, fmt.Errorf("store bolt: copying the state file: %w", err)
	}
	return s, nil
}

// copyState writes the state as it is at one moment, and returns the number of bytes.
func (b *Backend) copyState(to io.Writer) (size int64, err error) {
	w := &untilClosed{to: to, closing: b.closing}
	err = b.handle.viewTx(func(tx *bbolt.Tx) (err error) {
		size, err = tx.WriteTo(w)
		return err
	})
	if w.err != nil {
		err = w.err
	}
	return size, err
}

// untilClosed stops a copy when the store is closed, which waits for it.
type untilClosed struct {
	to      io.Writer
	closing <-chan struct{}
	err     error // of the last write: bbolt keeps the text of some, and not the error
}

func (w *untilClosed) Write(p []byte) (n int, err error) {
	select {
	case <-w.closing:
		err = errClosed
	default:
		n, err = w.to.Write(p)
	}
	w.err = err
	return n, err
}

// spool is a file that is gone when it is closed, or when the process ends.
type spool struct{ *os.File }

func openSpool(path string) (*spool, error) {
	if err := removeFile(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(path) // where an open file keeps its name, Close removes it
	return &spool{file}, nil
}

func (s *spool) Close() error {
	return errors.Join(s.File.Close(), removeFile(s.Name()))
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
