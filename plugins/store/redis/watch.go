package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

const (
	// pageRecords is what one call of deliver may have, by the contract.
	pageRecords = 1000
	// catchUp is between two looks at the feed when no bell rings.
	catchUp = 250 * time.Millisecond
	// retryPause is between two looks of which the first failed.
	retryPause = 50 * time.Millisecond
	// maxLoadFailures is how often in a row a page of the load is asked for again.
	maxLoadFailures = 5
	// maxBlind is how long the feed may go unread before the second of the contract is
	// in danger: what was created just after the last look has a little left to arrive.
	maxBlind = 800 * time.Millisecond
)

var (
	errNotWatched = errors.New("store redis: this kind is not watched")
	errRewound    = errors.New("store redis: the feed is another than the one that was read: a failover has lost writes, or Redis was emptied")
)

// reader is a place in the feed of a kind.
type reader struct {
	b       *Backend
	kind    store.Kind
	deliver func([]store.Record)
	last    string // number of the last record read
	version string // and its version, empty if it is too old to be known
}

// Watch implements store.Backend. A bell says when to look; what there is to see is read
// from the feed itself, so that a bell nobody heard costs a quarter of a second.
func (b *Backend) Watch(ctx context.Context, kind store.Kind, deliver func([]store.Record)) error {
	if err := b.refuseReason(ctx); err != nil {
		return err
	}
	if !b.watched[kind] {
		return errNotWatched
	}
	r := &reader{b, kind, deliver, "0", ""}
	if err := r.catchUp(ctx, time.Time{}); err != nil {
		return err
	}
	bell := b.client.Subscribe(ctx, b.notifyChannel(kind))
	defer func() { _ = bell.Close() }()
	rings := bell.Channel(goredis.WithChannelSize(1), goredis.WithChannelSendTimeout(time.Millisecond), goredis.WithChannelHealthCheckInterval(time.Second),
		goredis.WithChannelPingTimeout(b.timeout), goredis.WithChannelReconnectTimeout(b.timeout))
	seen := time.Now()
	if err := r.catchUp(ctx, time.Time{}); err != nil { // what came meanwhile rang no bell
		return err
	}
	deliver(nil)
	timer := time.NewTimer(catchUp)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.closing.Done():
			return errClosed
		case <-timer.C:
		case _, ok := <-rings:
			if !ok {
				return errClosed
			}
		}
		begin := time.Now()
		until := begin.Add(usualTimeout) // even if what was read last took long
		if blind := seen.Add(maxBlind); blind.After(until) {
			until = blind
		}
		switch err := r.catchUp(ctx, until); {
		case err == nil:
			seen = begin
			timer.Reset(catchUp)
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errRewound), errors.Is(err, errClosed):
			return err
		case time.Since(seen) > maxBlind-retryPause:
			return fmt.Errorf("store redis: the feed cannot be read in time: %w", err)
		default:
			timer.Reset(retryPause)
		}
	}
}

// catchUp delivers what is behind the last record read. With a moment given, the first
// page must come until then, whatever patience is configured, and each other in maxBlind.
func (r *reader) catchUp(ctx context.Context, until time.Time) error {
	failures := 0
	for {
		n, err := r.deliverPage(ctx, until)
		if err != nil && until.IsZero() && r.last != "0" && failures < maxLoadFailures && !errors.Is(err, errRewound) && r.b.refuseReason(ctx) == nil {
			// The load of many records is not begun anew because one answer came late.
			failures++
			if err := redisconn.Sleep(ctx, time.Duration(failures)*retryPause); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		failures = 0
		if n < pageRecords {
			return r.b.refuseReason(ctx)
		}
		if !until.IsZero() {
			until = time.Now().Add(maxBlind)
		}
	}
}

// deliverPage delivers one page and says how long it was.
func (r *reader) deliverPage(ctx context.Context, until time.Time) (int, error) {
	if !until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	ids, last, version, err := r.readPage(ctx)
	if err != nil {
		return 0, err
	}
	records, _, err := r.b.fetchRecords(ctx, r.kind, ids)
	if err != nil {
		return 0, err
	}
	if len(records) > 0 {
		r.deliver(records)
	}
	r.last, r.version = last, version
	return len(ids), nil
}

// readPage returns the IDs of the next page, the number of the last of them, and its version.
func (r *reader) readPage(ctx context.Context) (ids []string, last, version string, err error) {
	feed := r.b.feedKeys(r.kind)
	keys := []string{feed[0], feed[2], feed[3], r.b.slotPrefix(r.kind) + "nothing"}
	err = r.b.boundedCall(ctx, reads, func(ctx context.Context) error {
		reply, err := scriptPoll.Run(ctx, r.b.client, keys, r.b.scriptClock(), r.last, r.version, strconv.Itoa(pageRecords))
		if err != nil || reply == nil {
			return err
		}
		list, err := replyAs[[]any](reply)
		if err != nil || len(list) != 3 {
			return errors.Join(err, errReply)
		}
		place, err := textList(list[:2])
		if err != nil {
			return err
		}
		last, version = place[0], place[1]
		ids, err = textList(list[2])
		return err
	})
	if err == nil && last == "" {
		err = errRewound
	}
	return ids, last, version, err
}
