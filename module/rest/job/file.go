package job

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

var errLarge = errors.New("job: the file is too large")

// file is being fetched. One goroutine reads it; any may close it.
type file struct {
	Name, Type string
	Length     int64 // -1: not known

	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	max    int64
	left   time.Duration // of waiting for its server
	read   atomic.Int64
	closed atomic.Bool
	failed atomic.Pointer[Failure]
}

// Read reports a file that does not arrive whole. Only the time that is waited for the
// file's server counts: an upstream may be as slow as it likes.
func (f *file) Read(p []byte) (n int, err error) {
	if failure := f.failed.Load(); failure != nil {
		return 0, errors.New(failure.Message)
	}
	if over := f.max + 1 - f.read.Load(); int64(len(p)) > over {
		p = p[:over]
	}
	err = f.wait(stallTime, func() (err error) {
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
	return 0, err // nothing after which the upstream might take it for whole
}

// wait calls do, which waits for the file's server, and counts the time against the limits.
func (f *file) wait(limit time.Duration, do func() error) error {
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

// Failure is why the file did not arrive whole; nil while nothing went wrong.
func (f *file) Failure() *Failure { return f.failed.Load() }

// Progress is what was read of it in percent, nil if its length is not known.
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
