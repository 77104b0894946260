package revocationlist

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// The pause between two attempts to follow the feed. The first is very short: a feed may end up to 800 ms after the last
// revocation that it could deliver, and the next load has the rest of the second. Pauses stay short while the store cannot
// be reached: once it can, a revocation holds within its second, even if two loads fail with a timeout of 200 ms each. A
// load that fails partway has cost the store something, so the pause may grow by the time it took to read that part.
const (
	firstPause = 10 * time.Millisecond
	reachPause = 150 * time.Millisecond // at most, after an attempt that read nothing
	maxPause   = 5 * time.Second        // at most, after any
	recordTime = 30 * time.Microsecond  // in which a store reads a revocation
)

// Run follows the feed until ctx ends and returns its error. It is called once, and the caller owns the goroutine.
func (l *List) Run(ctx context.Context) error {
	var pruning sync.WaitGroup
	pruning.Go(func() { l.pruneExpired(ctx) })
	defer pruning.Wait()
	pause, logged := firstPause, time.Time{}
	for {
		before := l.countArrived()
		complete, err := l.follow(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if complete {
			pause = firstPause
		}
		pause = min(pause, reachPause+time.Duration(l.countArrived()-before)*recordTime, maxPause)
		l.mu.Lock()
		l.fault = err
		l.mu.Unlock()
		if now := time.Now(); complete || now.Sub(logged) >= maxPause {
			logged = now
			l.Log.LogAttrs(ctx, slog.LevelWarn, "the feed of revocations is lost", slog.Any("error", err), slog.Duration("retry_in", pause))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// countArrived returns how many revocations the feed has delivered.
func (l *List) countArrived() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.arrived
}

// follow loads all revocations and then those that come, until the feed is lost. complete says whether the load was
// completed.
func (l *List) follow(ctx context.Context) (complete bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.mu.Lock()
	l.attempt++
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
			l.finishLoad(ctx)
			complete = true
			return
		}
		if err := l.addRecords(ctx, records); err != nil {
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
func (l *List) addRecords(ctx context.Context, records []store.Record) error {
	all := make([]revoked, len(records))
	for i, record := range records { // before the lock is taken: guards wait for it
		if err := store.Decode(record.Value, &all[i].Revocation); err != nil {
			return err
		}
		if kindOf(all[i].Of) < 0 {
			return errors.New("revocationlist: a revocation of an unknown kind: written by a newer gatehouse?")
		}
		all[i].expires = record.Expires
	}
	l.addAll(ctx, all)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrived += len(records)
	return nil
}

// finishLoad marks the load as complete.
func (l *List) finishLoad(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.loaded {
		close(l.first)
	}
	l.loaded, l.live = true, true
	select {
	case l.completed <- struct{}{}:
	default:
	}
	if l.attempt > 1 {
		l.Log.LogAttrs(ctx, slog.LevelInfo, "the feed of revocations is complete again", slog.Int("held", l.set.size))
	}
}

// pruneEvery is between two looks for revocations that have expired.
const pruneEvery = 10 * time.Second

// pruneExpired forgets revocations that have expired, until ctx ends.
func (l *List) pruneExpired(ctx context.Context) {
	ticker := time.NewTicker(pruneEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for more := true; more; { // in steps, so that guards need not wait long
			l.mu.Lock()
			before := l.set.size
			l.set.prune(pruneStep)
			more = before-l.set.size == pruneStep
			l.mu.Unlock()
		}
	}
}
