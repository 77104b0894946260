package token

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

// Run follows the feed until ctx ends and returns its error. It is called once, and
// whoever calls it owns the goroutine.
func (r *Revocations) Run(ctx context.Context) error {
	pause := firstPause
	for {
		complete, err := r.follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if complete {
			pause = firstPause
		}
		r.log.LogAttrs(ctx, slog.LevelWarn, "the feed of revocations is lost", slog.Any("error", err), slog.Duration("retry_in", pause))
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		pause = min(2*pause, maxPause)
	}
}

// follow loads all revocations and then those that come, until the feed is lost. complete says
// whether the load was completed.
func (r *Revocations) follow(ctx context.Context) (complete bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.mu.Lock()
	r.attempt++
	r.restart = stop
	r.set.prune(math.MaxInt)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.live {
			r.live, r.lost = false, r.now()
		}
	}()
	err = r.store.Watch(ctx, store.KindRevocation, func(records []store.Record) {
		if ctx.Err() != nil {
			return
		}
		if len(records) == 0 {
			if err := r.finishLoad(ctx); err != nil {
				stop(err)
				return
			}
			complete = true
			return
		}
		if err := r.addRecords(records); err != nil {
			stop(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = errors.New("token: the store ended the feed of revocations")
	}
	return complete, err
}

// addRecords puts records in force. A record that cannot be read ends the feed: it may revoke
// something, which skipping it would let in.
func (r *Revocations) addRecords(records []store.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range records {
		var rv store.Revocation
		if err := store.Decode(record.Value, &rv); err != nil {
			return err
		}
		if !r.set.knows(rv.Of) {
			return errors.New("token: a revocation of an unknown kind: written by a newer gatehouse?")
		}
		if err := r.add(rv, record.Expires); err != nil {
			return err
		}
	}
	return nil
}

// finishLoad marks the load as done, unless the set had no room for a part of it.
func (r *Revocations) finishLoad(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full && r.fullAt == r.attempt {
		return errFull
	}
	if !r.loaded {
		close(r.first)
	}
	r.loaded, r.live, r.full = true, true, false
	if r.attempt > 1 {
		r.log.LogAttrs(ctx, slog.LevelInfo, "the feed of revocations is complete again", slog.Int("held", r.set.size))
	}
	return nil
}
