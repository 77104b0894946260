package revocationlist

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// The pause between two attempts to follow the feed.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// Run follows the feed until ctx ends and returns its error. It is called once, and the caller owns the goroutine.
func (l *List) Run(ctx context.Context) error {
	pause := firstPause
	for {
		complete, err := l.follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if complete {
			pause = firstPause
		}
		l.Log.LogAttrs(ctx, slog.LevelWarn, "the feed of revocations is lost", slog.Any("error", err), slog.Duration("retry_in", pause))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, maxPause)
	}
}

// follow loads all revocations and then those that come, until the feed is lost. complete says whether the load was
// completed.
func (l *List) follow(ctx context.Context) (complete bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.mu.Lock()
	l.attempt++
	l.restart = stop
	l.set.prune(math.MaxInt)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.live {
			l.live, l.lost = false, l.Now()
		}
	}()
	err = l.Store.Watch(ctx, store.KindRevocation, func(records []store.Record) {
		if ctx.Err() != nil {
			return
		}
		if len(records) == 0 {
			if err := l.finishLoad(ctx); err != nil {
				stop(err)
				return
			}
			complete = true
			return
		}
		if err := l.addRecords(records); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = errors.New("revocationlist: the store ended the feed of revocations")
	}
	return complete, err
}

// addRecords puts records in force. A record that cannot be read ends the feed: skipping it might let something
// revoked in.
func (l *List) addRecords(records []store.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, record := range records {
		var rv store.Revocation
		if err := store.Decode(record.Value, &rv); err != nil {
			return err
		}
		if l.set.of[rv.Of] == nil {
			return errors.New("revocationlist: a revocation of an unknown kind: written by a newer gatehouse?")
		}
		if err := l.add(rv, record.Expires); err != nil {
			return err
		}
	}
	return nil
}

// finishLoad marks the load as complete, unless the set had no room for a part of it.
func (l *List) finishLoad(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full && l.fullAt == l.attempt {
		return errFull
	}
	if !l.loaded {
		close(l.first)
	}
	l.loaded, l.live, l.full = true, true, false
	if l.attempt > 1 {
		l.Log.LogAttrs(ctx, slog.LevelInfo, "the feed of revocations is complete again", slog.Int("held", l.set.size))
	}
	return nil
}
