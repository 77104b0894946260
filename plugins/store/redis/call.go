package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

var errClosed = errors.New("store redis: the store is closed")

// nearly is how far before a deadline a connection may give up because of it.
const nearly = 3 * time.Millisecond

// refusal is why no call can be served now.
func (b *Backend) refusal(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.closing.Err() != nil {
		return errClosed
	}
	return nil
}

// read and write bound what ask does, and remember whether Redis serves.
func (b *Backend) read(ctx context.Context, ask func(ctx context.Context) error) error {
	return b.call(ctx, false, ask)
}

func (b *Backend) write(ctx context.Context, ask func(ctx context.Context) error) error {
	return b.call(ctx, true, ask)
}

func (b *Backend) call(ctx context.Context, writes bool, ask func(ctx context.Context) error) error {
	if err := b.refusal(ctx); err != nil {
		return err
	}
	waited, trips := store.WaitedIn(ctx), 1
	if writes && b.wait.Replicas > 0 {
		trips = 2 // to the primary and from there to the replicas
	}
	patience, ordinary := b.condition.patience(b.timeout, trips, waited.Sum())
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begin := time.Now()
	err := ask(bounded)
	took := time.Since(begin)
	waited.Add(took - ordinary)
	if err == nil || store.IsAnswer(err) {
		b.condition.served(writes, took)
		return err
	}
	if b.closing.Err() != nil {
		return errClosed
	}
	if cause := ended(ctx); cause != nil {
		return fmt.Errorf("store redis: %w", cause)
	}
	if aboutTheRecord(err) {
		b.condition.served(false, took)
		return fmt.Errorf("store redis: %w", b.settings.Clean(err))
	}
	if ended(bounded) != nil && !errors.Is(err, redisconn.ErrReplicas) {
		err = fmt.Errorf("store redis: no answer within %v: %s", patience, b.settings.Clean(err))
	} else {
		err = fmt.Errorf("store redis: %w", b.settings.Clean(err))
	}
	if b.condition.failed(err, redisconn.Unapplied(err) || errors.Is(err, redisconn.ErrReplicas)) {
		b.log.Warn("Redis does not serve the store", errorField(err))
		b.spawn(b.probe)
	}
	return err
}

// aboutTheRecord tells a record that cannot be read from a Redis that does not serve: one
// such record must not take a node out of service.
func aboutTheRecord(err error) bool {
	return errors.Is(err, errDamaged) || errors.Is(err, errNewer) || goredis.HasErrorPrefix(err, "GATEHOUSE") || goredis.HasErrorPrefix(err, "WRONGTYPE")
}

// ended is why ctx is over, or as good as: the deadline of a connection passes a little
// before that of the context.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < nearly {
		return context.DeadlineExceeded
	}
	return nil
}

// clock is the time for a script: empty for that of Redis.
func (b *Backend) clock() string {
	if b.now == nil {
		return ""
	}
	return fmt.Sprint(b.now().UnixMilli())
}

// today is near enough for what only saves work.
func (b *Backend) today() int64 {
	if b.now == nil {
		return time.Now().UnixMilli()
	}
	return b.now().UnixMilli()
}

// live judges what was read without a script: by the clock given, else Redis has judged.
func (b *Backend) live(r store.Record) bool {
	return b.now == nil || r.Expires.IsZero() || b.now().UnixMilli() < r.Expires.UnixMilli()
}
