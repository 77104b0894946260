package bolt

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.uber.org/zap"
)

var errClosed = errors.New("store bolt: the store is closed")

// closeWait bounds the closing of a database that panicked and may hold its own lock.
const closeWait = time.Second

// retryWait is the least time between two attempts to open a file that failed.
const retryWait = time.Second

// maxAbandoned bounds what databases that could not be closed leave behind, each a
// goroutine and a mapping. A file that does this again and again is damaged.
const maxAbandoned = 8

// handle is the open database, opened anew after a fault that bbolt itself does not recover from.
type handle struct {
	path string
	log  *zap.Logger

	mu      sync.RWMutex
	db      *bbolt.DB
	file    *os.File
	failure error // why db is nil
	tried   time.Time
	opened  bool // it has been open, so the file exists
	closed  bool
	left    int // databases that could not be closed

	copying sync.Mutex // held while the whole file is copied; only ever tried

	atStep func(step string) error // of a compaction; for tests
}

// unavailable is why the file is not open. It names the file.
type unavailable struct{ error }

func (e unavailable) Unwrap() error { return e.error }

// panicError is a panic of bbolt, or an access to pages the disk does not give.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprint("panic: ", e.value) }

// recoverPanic turns panics into errors. bbolt panics over what it finds in a damaged file, and a mapped page that
// cannot be read is a fault of memory; neither is a reason to end a process that serves more than this store.
func recoverPanic(call func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = panicError{p}
		}
	}()
	return call()
}

func (h *handle) viewTx(call func(*bbolt.Tx) error) error {
	began := false
	return h.withDB(func(db *bbolt.DB) error {
		defer func() {
			if p := recover(); p != nil {
				if !began {
					unlockBegin(db)
				}
				panic(p)
			}
		}()
		return db.View(func(tx *bbolt.Tx) error {
			began = true
			return call(tx)
		})
	}, func(err error) bool {
		return errors.Is(err, bolterrors.ErrInvalidMapping) || !began && errors.As(err, new(panicError))
	})
}

func (h *handle) updateTx(call func(*bbolt.Tx) error) error {
	return h.withDB(func(db *bbolt.DB) error { return db.Update(call) }, func(err error) bool {
		return errors.Is(err, bolterrors.ErrInvalidMapping) || errors.As(err, new(panicError))
	})
}

func (h *handle) withDB(call func(*bbolt.DB) error, broken func(error) bool) error {
	h.mu.RLock()
	if h.db == nil {
		h.mu.RUnlock()
		if err := h.reopen(); err != nil {
			return err
		}
		h.mu.RLock()
	}
	db := h.db
	if db == nil {
		defer h.mu.RUnlock()
		if h.closed {
			return errClosed
		}
		return unavailable{h.failure}
	}
	err := recoverPanic(func() error { return call(db) })
	h.mu.RUnlock()
	if err != nil && broken(err) {
		h.dropDB(db, err)
	}
	return err
}

// reopen opens the database if it is not open.
func (h *handle) reopen() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return errClosed
	case h.db != nil:
		return nil
	case h.left >= maxAbandoned:
		return unavailable{fmt.Errorf("store bolt: %s fails again and again, is it damaged? Last: %w", h.path, h.failure)}
	case !h.tried.IsZero() && time.Since(h.tried) < retryWait:
		return unavailable{h.failure}
	}
	h.db, h.file, h.failure = openFile(h.path, h.opened, h.log)
	if h.failure == nil {
		h.tried, h.opened = time.Time{}, true
		return nil
	}
	h.tried = time.Now()
	return unavailable{h.failure}
}

// dropDB closes a database that cannot be used on; the next call opens it anew.
func (h *handle) dropDB(db *bbolt.DB, reason error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.db != db {
		return
	}
	h.log.Error("the state file is opened anew after a fault", zap.String("file", h.path), zap.Error(reason))
	h.failure = reason
	if err := h.closeLocked(); err != nil {
		h.log.Error("the state file could not be closed", zap.String("file", h.path), zap.Error(err))
	}
}

// closeLocked closes the database. The caller holds the lock.
func (h *handle) closeLocked() error {
	db, file := h.db, h.file
	h.db, h.file = nil, nil
	if db == nil {
		return nil
	}
	done := make(chan error, 1)
	go func() { done <- recoverPanic(db.Close) }()
	select {
	case err := <-done:
		return err
	case <-time.After(closeWait):
		// A panic left bbolt's own lock taken. No call is under way, since the
		// caller holds ours; what is mapped is lost until the process ends.
		h.left++
		return unlockFile(file)
	}
}

func (h *handle) closeDB() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	return h.closeLocked()
}
