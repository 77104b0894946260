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

// refuseReason is why no call can be served now.
func (b *Backend) refuseReason(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.closing.Err() != nil {
		return errClosed
	}
	return nil
}

// What a call does to the records.
const (
	reads  = false
	writes = true
)

// boundedCall bounds the time of what ask does, and records whether Redis serves.
func (b *Backend) boundedCall(ctx context.Context, write bool, ask func(ctx context.Context) error) error {
	if err := b.refuseReason(ctx); err != nil {
		return err
	}
	waited, trips := store.WaitedIn(ctx), 1
	if write && b.wait.Replicas > 0 {
		trips = 2 // to the primary and from there to the replicas
	}
	patience, ordinary := b.condition.callTimeout(b.timeout, trips, waited.Sum())
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begin := time.Now()
	err := ask(bounded)
	took := time.Since(begin)
	waited.Add(took - ordinary)
	if err == nil || store.IsAnswer(err) {
		b.condition.recordSuccess(write, took)
		return err
	}
	if b.closing.Err() != nil {
		return errClosed
	}
	if cause := contextError(ctx); cause != nil {
		return fmt.Errorf("store redis: %w", cause)
	}
	if aboutTheRecord(err) {
		b.condition.recordSuccess(false, took)
		return fmt.Errorf("store redis: %w", b.settings.Clean(err))
	}
	if contextError(bounded) != nil && !errors.Is(err, redisconn.ErrReplicas) {
		err = fmt.Errorf("store redis: no answer within %v: %s", patience, b.settings.Clean(err))
	} else {
		err = fmt.Errorf("store redis: %w", b.settings.Clean(err))
	}
	if b.condition.recordFailure(err, redisconn.Unapplied(err) || errors.Is(err, redisconn.ErrReplicas)) {
		b.log.Warn("Redis does not serve the store", errorField(err))
		b.spawn(b.probeUntilServed)
	}
	return err
}

// aboutTheRecord tells a record that cannot be read from a Redis that does not serve: one
// such record must not take a node out of service.
func aboutTheRecord(err error) bool {
	return errors.Is(err, errDamaged) || errors.Is(err, errNewer) || goredis.HasErrorPrefix(err, "GATEHOUSE") || goredis.HasErrorPrefix(err, "WRONGTYPE")
}

// contextError is why ctx is over, or as good as: the deadline of a connection passes a little
// before that of the context.
func contextError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < nearly {
		return context.DeadlineExceeded
	}
	return nil
}

// scriptClock is the time for a script: empty for that of Redis.
func (b *Backend) scriptClock() string {
	if b.now == nil {
		return ""
	}
	return fmt.Sprint(b.now().UnixMilli())
}

// approximateNow is near enough for what only saves work.
func (b *Backend) approximateNow() int64 {
	if b.now == nil {
		return time.Now().UnixMilli()
	}
	return b.now().UnixMilli()
}
