package job

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

var errLarge = errors.New("job: the file is too large")

// file is a file that is being fetched. One goroutine reads it; any may close it.
type file struct {
	Name, Type string
	Length     int64 // -1: not known

	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	max    int64
	left   time.Duration // of the time for waiting
	read   atomic.Int64
	closed atomic.Bool
	failed atomic.Pointer[Failure]
}

// Read returns an error for a file that does not arrive completely. Only the time spent waiting
// for the file's server counts: the upstream may be slow.
func (f *file) Read(p []byte) (n int, err error) {
	if failure := f.failed.Load(); failure != nil {
		return 0, errors.New(failure.Message)
	}
	if over := f.max + 1 - f.read.Load(); int64(len(p)) > over {
		p = p[:over]
	}
	err = f.waitForServer(stallTime, func() (err error) {
		n, err = f.body.Read(p)
		return err
	})
	if f.read.Add(int64(n)) > f.max {
		err = errLarge
	}
	if err == nil || errors.Is(err, io.EOF) || f.closed.Load() {
		return n, err
	}
	code := codeOf(err)
	if code == FileUnreachable {
		code = FileIncomplete
	}
	f.failed.CompareAndSwap(nil, code.Failure())
	return 0, err // no error after which the upstream might take the file for complete
}

// waitForServer calls do, which waits for the file's server, and counts the time towards the
// limits.
func (f *file) waitForServer(limit time.Duration, do func() error) error {
	begun := time.Now()
	timer := time.AfterFunc(min(limit, max(f.left, 0)), func() { f.cancel(errTime) })
	err := do()
	timer.Stop()
	f.left -= time.Since(begun)
	if err != nil && errors.Is(context.Cause(f.ctx), errTime) {
		return errTime
	}
	return err
}

// Failure says why the file did not arrive completely, or is nil.
func (f *file) Failure() *Failure { return f.failed.Load() }

// Progress returns how much of it was read, in percent, or nil if its length is not known.
func (f *file) Progress() *int {
	if f.Length <= 0 {
		return nil
	}
	percent := int(min(f.read.Load()*100/f.Length, 99))
	return &percent
}

// Close ends the fetch.
func (f *file) Close() error {
	f.closed.Store(true)
	f.cancel(nil)
	if f.body != nil {
		return f.body.Close()
	}
	return nil
}
