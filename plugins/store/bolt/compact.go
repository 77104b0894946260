package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/store"
)

// Every commit of bbolt writes the list of all free pages, 8 bytes for each, and the file never gets smaller. A surge of
// records that have expired would make each write dearer for ever: 60,000 free pages double its time. bbolt's
// NoFreelistSync is no way out. It rebuilds the list when the file is opened and after each commit that fails, in a
// goroutine of its own, where a damaged page ends the process. So a file that is mostly free is copied.
const (
	// compactSuffix makes the name of the copy from the state's.
	compactSuffix = ".compact"
	// compactBatch is how many bytes of keys and values a transaction of the copy holds.
	compactBatch = 4 << 20
	// minCompact is the least size of a file that is compacted by itself.
	minCompact = 32 << 20
	// maxLive is the most live data that is copied by itself: writes wait for the copy, about a second.
	maxLive = 128 << 20
	// lookEvery is between two looks at how much of the file is free.
	lookEvery = time.Minute
	// retryCompact is the pause after a compaction that failed.
	retryCompact = time.Hour
)

// compaction is a request for a copy, whatever is free.
type compaction struct {
	before, after int64
	err           error
	done          chan struct{}
}

// Compact replaces the state file by a copy without free space, and returns the size of the data before and after.
// Reads continue meanwhile, writes wait. A crash at any point leaves a complete file.
func (b *Backend) Compact(ctx context.Context) (before, after int64, err error) {
	c := &compaction{done: make(chan struct{})}
	select {
	case b.compactions <- c:
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	case <-b.stopped:
		return 0, 0, errClosed
	}
	select { // the committer works on it until it is done
	case <-c.done:
		return c.before, c.after, b.markFault(c.err)
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
}

// compactIfWasteful compacts the file if most of it is free. Only the committer calls it.
func (b *Backend) compactIfWasteful() {
	if runtime.GOOS == "windows" || time.Now().Before(b.compactAfter) {
		return
	}
	if wasteful, err := b.handle.isWasteful(); err != nil || !wasteful {
		return // a fault shows in the calls that it keeps from working
	}
	begun := time.Now()
	before, after, err := b.handle.compact()
	if errors.Is(err, store.ErrBusy) {
		return // the next look is soon enough
	}
	if err != nil {
		b.compactAfter = begun.Add(retryCompact)
		b.handle.log.Warn("most of the state file is free, and it could not be compacted: writes take longer than they should",
			zap.String("file", b.handle.path), zap.Duration("retry_in", retryCompact), zap.Error(err))
		return
	}
	b.handle.log.Info("compacted the state file, most of which was free", zap.String("file", b.handle.path),
		zap.Int64("bytes_before", before), zap.Int64("bytes_after", after), zap.Duration("took", time.Since(begun)))
}

// isWasteful reports whether the file is to be compacted by itself. It does not open one that is closed after a fault.
func (h *handle) isWasteful() (bool, error) {
	size, live, err := h.usage()
	return mostlyFree(size, live) && live <= maxLive, err
}

func mostlyFree(size, live int64) bool { return size >= minCompact && live <= size/2 }

// usage returns the size of the data and how much of it is in use. They are 0 while the file is closed after a fault.
func (h *handle) usage() (size, live int64, err error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.db == nil {
		return 0, 0, nil
	}
	err = recoverPanic(func() (err error) {
		size, err = sizeOf(h.db)
		stats := h.db.Stats()
		live = size - int64(stats.FreePageN+stats.PendingPageN)*int64(h.db.Info().PageSize)
		return err
	})
	return size, live, err
}

// Examine tells the doctor that the file was replaced, or is mostly free and too large to be compacted by itself.
func (b *Backend) Examine(context.Context) (wrong, risky map[string]string, err error) {
	if err := b.handle.checkName(); err != nil {
		wrong = map[string]string{err.Error(): "stop the gateway, put the right file there (a backup: `caddy gatehouse restore`), and start it again"}
	}
	size, live, err := b.handle.usage()
	return wrong, examineUsage(size, live), err
}

func examineUsage(size, live int64) (risky map[string]string) {
	if !mostlyFree(size, live) || live <= maxLive {
		return nil
	}
	return map[string]string{
		fmt.Sprintf("%d of the %d MiB of the state file are free: each write has to list them and takes longer", (size-live)>>20, size>>20): fmt.Sprintf(
			"run `caddy gatehouse compact` when few people sign in: writes wait meanwhile, about a second for each %d MiB of the %d in use", maxLive>>20, live>>20),
	}
}

// neverBroken says that an error does not mean a broken database.
func neverBroken(error) bool { return false }

// sizeOf returns how many bytes of the file have been used at some time.
func sizeOf(db *bbolt.DB) (size int64, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		size = tx.Size()
		return nil
	})
	return size, err
}

// compact puts a copy of the database in the place of the file. The caller must be the only writer.
func (h *handle) compact() (before, after int64, err error) {
	if runtime.GOOS == "windows" {
		return 0, 0, errors.New("an open file cannot be replaced on Windows")
	}
	if !h.copying.TryLock() {
		return 0, 0, store.ErrBusy
	}
	defer h.copying.Unlock()
	var old, fresh *bbolt.DB
	var file *os.File
	err = h.withDB(func(db *bbolt.DB) (err error) {
		if before, err = sizeOf(db); err == nil {
			old = db
			fresh, file, err = h.copyDB(db)
		}
		return err
	}, neverBroken)
	if err != nil {
		return before, 0, err
	}
	if after, err = sizeOf(fresh); err != nil {
		return before, 0, h.discardCopy(fresh, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.db != old {
		return before, 0, h.discardCopy(fresh, errors.New("the state file was opened anew meanwhile"))
	}
	if err := h.reachStep("copied"); err != nil {
		return before, 0, h.discardCopy(fresh, err)
	}
	// The lock on the copy is taken since it was made, so at no moment could another process have the file.
	if err := os.Rename(h.path+compactSuffix, h.path); err != nil {
		return before, 0, h.discardCopy(fresh, err)
	}
	if err := h.closeLocked(); err != nil {
		h.log.Warn("the state file from before its compaction could not be closed", zap.String("file", h.path), zap.Error(err))
	}
	h.db, h.file = fresh, file
	err = h.reachStep("renamed")
	if err == nil {
		err = syncDirs(h.path)
	}
	if err != nil {
		// After a power cut the name may mean the old file, so nothing may be written to the new one. Opening it
		// anew syncs the directory first.
		h.failure = err
		_ = h.closeLocked()
	}
	return before, after, err
}

// copyDB copies a database into a new file with the mode and the owner of the old one, and returns the copy open,
// locked and on the disk.
func (h *handle) copyDB(db *bbolt.DB) (fresh *bbolt.DB, file *os.File, err error) {
	name := h.path + compactSuffix
	if err := removeFile(name); err != nil {
		return nil, nil, err
	}
	info, err := h.file.Stat()
	if err != nil {
		return nil, nil, err
	}
	options := bboltOptions(&file)
	create := options.OpenFile
	options.OpenFile = func(name string, flag int, mode fs.FileMode) (*os.File, error) {
		return create(name, flag|os.O_EXCL, mode)
	}
	options.NoSync = true // until all is there
	if fresh, err = bbolt.Open(name, 0o600, options); err != nil {
		_ = os.Remove(name)
		return nil, nil, err
	}
	err = copyOwner(file, info)
	if err == nil {
		err = file.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = recoverPanic(func() error { return bbolt.Compact(fresh, db, compactBatch) })
	}
	if err == nil {
		err = h.reachStep("written")
	}
	if err == nil {
		fresh.NoSync = false
		err = fresh.Sync()
	}
	if err != nil {
		return nil, nil, h.discardCopy(fresh, err)
	}
	return fresh, file, nil
}

// discardCopy closes and removes a copy that does not take the place of the file, and returns why.
func (h *handle) discardCopy(fresh *bbolt.DB, why error) error {
	_ = recoverPanic(fresh.Close)
	_ = removeFile(h.path + compactSuffix)
	return fmt.Errorf("compacting: %w", why)
}

// removeCopy removes the copies that a crash left. The caller has the file locked.
func removeCopy(path string) error {
	_ = os.Remove(path + snapshotSuffix) // one that is being read cannot be removed everywhere
	return removeFile(path + compactSuffix)
}

// reachStep lets a test fail or end the process at a step of a compaction.
func (h *handle) reachStep(step string) error {
	if h.atStep == nil {
		return nil
	}
	return h.atStep(step)
}
