package gateway

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
)

// The pools of what configurations share. A key holds everything its value was made
// from, so that a value is never used under a configuration it does not fit.
var (
	stores      = caddy.NewUsagePool() // lazyStore by the store's identity
	directories = caddy.NewUsagePool() // lazyDirectory by the directory's identity
	books       = caddy.NewUsagePool() // one tally of failed attempts for the process
	limiters    = caddy.NewUsagePool() // lazyLimiter by the limiter's identity
)

// maxAttemptKeys bounds the memory for counting attempts, about 200 bytes for each key: it
// is the most of one kind, of which there are seven (users, addresses, clients, ...).
const maxAttemptKeys = 50_000

// holdings collects references to pooled values, so that each is given back once.
type holdings struct {
	release []func()
	again   []func() (func(), error)
}

// hold takes a reference to the pooled value under key, making it if there is none.
func hold[T any](h *holdings, pool *caddy.UsagePool, key any, construct func() (T, error)) (T, error) {
	var zero T
	v, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) {
		v, err := construct()
		if err != nil {
			return nil, err
		}
		return pooled[T]{v}, nil
	})
	if err != nil {
		return zero, err
	}
	give := func() { _, _ = pool.Delete(key) }
	p, ok := v.(pooled[T])
	if !ok {
		give()
		return zero, errors.New("a pool holds a value of another type")
	}
	h.release = append(h.release, give)
	h.again = append(h.again, func() (func(), error) {
		// Either the value still lives under a newer configuration, or it is put back
		// for this request alone: pooled values open lazily, also for a second time.
		now, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) { return p, nil })
		if err != nil {
			return nil, err
		}
		if now, ok := now.(pooled[T]); !ok || any(now.value) != any(p.value) {
			give()
			return nil, errGone
		}
		return give, nil
	})
	return p.value, nil
}

// pooled gives every value the destructor that the pool asks for.
type pooled[T any] struct{ value T }

func (p pooled[T]) Destruct() error {
	if d, ok := any(p.value).(caddy.Destructor); ok {
		return d.Destruct()
	}
	return nil
}

func (h *holdings) giveBack() {
	for i := len(h.release) - 1; i >= 0; i-- {
		h.release[i]()
	}
	h.release = nil
}

func (h *holdings) lease() *lease {
	release, again := h.release, h.again
	h.release = nil // from here on they are the lease's
	return newLease(func() {
		for i := len(release) - 1; i >= 0; i-- {
			release[i]()
		}
	}, func() (func(), error) {
		var late holdings
		for _, a := range again {
			give, err := a()
			if err != nil {
				late.giveBack()
				return nil, err
			}
			late.release = append(late.release, give)
		}
		return late.giveBack, nil
	})
}

func newBook() (*lockout.Book, error) { return lockout.NewBook(maxAttemptKeys, time.Now), nil }

// lazyDirectory is a user directory that opens at its first use.
type lazyDirectory struct {
	source directory.Source
	users  lazy[directory.Directory]
}

func (d *lazyDirectory) directory(ctx context.Context) (directory.Directory, error) {
	return d.users.get(ctx, d.source.Open)
}

func (d *lazyDirectory) Identify(ctx context.Context, username string) (string, bool, error) {
	open, err := d.directory(ctx)
	if err != nil {
		return "", false, err
	}
	return open.Identify(ctx, username)
}

func (d *lazyDirectory) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	open, err := d.directory(ctx)
	if err != nil {
		return directory.User{}, false, err
	}
	return open.Authenticate(ctx, username, password)
}

func (d *lazyDirectory) Lookup(ctx context.Context, id string) (directory.User, bool, error) {
	open, err := d.directory(ctx)
	if err != nil {
		return directory.User{}, false, err
	}
	return open.Lookup(ctx, id)
}

// Withdrawn is the directory's own, if it has one; else nobody is.
func (d *lazyDirectory) Withdrawn(ctx context.Context, id string) (bool, error) {
	open, err := d.directory(ctx)
	if err != nil {
		return false, err
	}
	if w, ok := open.(withdrawer); ok {
		return w.Withdrawn(ctx, id)
	}
	return false, nil
}

func (d *lazyDirectory) Destruct() error {
	return d.users.drop(func(open directory.Directory) error {
		if c, ok := open.(io.Closer); ok {
			return c.Close()
		}
		return nil
	})
}
