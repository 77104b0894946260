package move

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// writesAtOnce is how many records are written or read at a time.
	writesAtOnce = 32
	// tries and pause bound how long a record waits for a store that does not answer.
	tries = 10
	pause = 200 * time.Millisecond
	// precision is what stores keep of an expiry at least.
	precision = time.Millisecond
)

// Target is a store that records are moved into.
type Target interface {
	store.Backend
	store.EmptyChecker
}

// Errors that say why a target is refused.
var (
	// ErrNotEmpty: the target has records that no move of this source has written.
	ErrNotEmpty = errors.New("it has records already")
	// errOtherMove: a move of another source was begun and not finished.
	errOtherMove = errors.New("records of another store are being moved into it, or that was interrupted")
	// errDiffers: a record is not what was copied. Somebody uses one of the stores.
	errDiffers = errors.New("a record differs from the one that was copied: does a gateway use one of the stores?")
)

// Begin marks the target, so that an interrupted move can be continued and no gateway uses half of the records. from
// names the source. again is true if a move of it was interrupted.
func Begin(ctx context.Context, to Target, from string) (again bool, err error) {
	var under store.Move
	_, err = store.Read(ctx, to, store.MoveKey(), &under)
	switch {
	case err == nil && under.From == from:
		return true, nil
	case err == nil:
		return false, fmt.Errorf("%w: %s, since %s", errOtherMove, under.From, under.Begun.UTC().Format(time.DateTime))
	case !errors.Is(err, store.ErrNotFound):
		return false, err
	}
	empty, err := to.Empty(ctx)
	if err == nil && !empty {
		err = ErrNotEmpty
	}
	if err == nil {
		_, err = store.Create(ctx, to, store.Record{Key: store.MoveKey()}, &store.Move{From: from, Begun: time.Now()})
	}
	return false, err
}

// End removes the mark of [Begin].
func End(ctx context.Context, to store.Backend) error {
	return retry(ctx, func() error { return to.Delete(ctx, store.MoveKey()) })
}

// Copy writes every live record to the target. One that is there already, from a move that was interrupted, must be the
// same. progress is called with the number of records since the last call.
func Copy(ctx context.Context, from store.Walker, to store.Backend, progress func(int64)) error {
	return forEach(ctx, from, progress, func(ctx context.Context, r store.Record) error {
		err := retry(ctx, func() error {
			_, err := to.Create(ctx, r)
			return err
		})
		if errors.Is(err, store.ErrExists) {
			return compare(ctx, to, r)
		}
		return err
	})
}

// Check compares every live record with that of the target, and the children that a parent has there.
func Check(ctx context.Context, from store.Walker, to store.Backend, progress func(int64)) error {
	var mu sync.Mutex
	children := make(map[family]count)
	later := time.Now().Add(lasting)
	err := forEach(ctx, from, progress, func(ctx context.Context, r store.Record) error {
		if err := compare(ctx, to, r); err != nil {
			return err
		}
		if r.Parent != "" {
			mu.Lock()
			defer mu.Unlock()
			n := children[family{r.Kind, r.Parent}]
			n.all++
			if r.Expires.IsZero() || r.Expires.After(later) {
				n.lasting++
			}
			children[family{r.Kind, r.Parent}] = n
		}
		return nil
	})
	if err != nil {
		return err
	}
	return checkLists(ctx, to, children)
}

// family is the records of one kind with one parent.
type family struct {
	kind   store.Kind
	parent string
}

// count is the number of a parent's children, and of those that no check outlasts.
type count struct{ all, lasting int }

// lasting is longer than a check takes.
const lasting = 24 * time.Hour

// checkLists has the target list the children of every parent. Some that were counted may have expired since.
func checkLists(ctx context.Context, to store.Backend, children map[family]count) error {
	lists, ctx := errgroup.WithContext(ctx)
	lists.SetLimit(writesAtOnce)
	for f, want := range children {
		lists.Go(func() error {
			found, after := 0, ""
			for {
				var page []store.Record
				err := retry(ctx, func() (err error) {
					page, err = to.List(ctx, f.kind, f.parent, after, listPage)
					return err
				})
				if err != nil {
					return err
				}
				if found += len(page); len(page) < listPage {
					break
				}
				after = page[len(page)-1].ID
			}
			if found > want.all || found < want.lasting {
				return fmt.Errorf("%w (a list has %d of %d records of the kind %s)", errDiffers, found, want.all, f.kind)
			}
			return nil
		})
	}
	return lists.Wait()
}

// listPage is how many children are listed at a time.
const listPage = 1000

// compare reports with [errDiffers] whether the target has another record, or none although it has not expired. A child must
// be found through its parent too.
func compare(ctx context.Context, to store.Backend, r store.Record) error {
	var have store.Record
	err := retry(ctx, func() (err error) {
		have, err = to.Get(ctx, r.Key)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound) && !r.Expires.IsZero() && !time.Now().Before(r.Expires):
		return nil
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w (a %s is missing)", errDiffers, r.Kind)
	case err != nil:
		return err
	}
	late := have.Expires.Sub(r.Expires)
	if have.Expires.IsZero() != r.Expires.IsZero() || late < 0 || late > precision || have.Parent != r.Parent || !bytes.Equal(have.Value, r.Value) {
		return fmt.Errorf("%w (a %s)", errDiffers, r.Kind)
	}
	return nil
}

// forEach works on several records at a time.
func forEach(ctx context.Context, from store.Walker, progress func(int64), do func(context.Context, store.Record) error) error {
	return from.Walk(ctx, func(page []store.Record) error {
		work, ctx := errgroup.WithContext(ctx)
		work.SetLimit(writesAtOnce)
		for _, r := range page {
			work.Go(func() error { return do(ctx, r) })
		}
		err := work.Wait()
		if err == nil && progress != nil {
			progress(int64(len(page)))
		}
		return err
	})
}

// retry repeats a call that a fault kept from being answered.
func retry(ctx context.Context, call func() error) error {
	for try := 1; ; try++ {
		err := call()
		if err == nil || store.IsAnswer(err) || ctx.Err() != nil || try == tries {
			return err
		}
		if err := store.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}
