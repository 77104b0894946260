package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// pageRecords is what one call of deliver may have, by the contract.
	pageRecords = 1000
	// catchUp is between two looks at the feed when no bell rings.
	catchUp = 250 * time.Millisecond
	// retryPause is between two looks of which the first failed.
	retryPause = 50 * time.Millisecond
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
	for {
		n, err := r.deliverPage(ctx, until)
		if err != nil {
			return err
		}
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
	ids, err := r.readPage(ctx)
	if err != nil {
		return 0, err
	}
	records, _, err := r.b.fetchRecords(ctx, r.kind, ids.ids)
	if err != nil {
		return 0, err
	}
	if len(records) > 0 {
		r.deliver(records)
	}
	r.last, r.version = ids.last, ids.version
	return len(ids.ids), nil
}

type page struct {
	last, version string
	ids           []string
}

func (r *reader) readPage(ctx context.Context) (page, error) {
	feed := r.b.feedKeys(r.kind)
	keys := []string{feed[0], feed[2], feed[3], r.b.slotPrefix(r.kind) + "nothing"}
	var p page
	err := r.b.readCall(ctx, func(ctx context.Context) error {
		reply, err := scriptPoll.Run(ctx, r.b.client, keys, r.b.scriptClock(), r.last, r.version, strconv.Itoa(pageRecords))
		if err != nil {
			return err
		}
		if reply == nil {
			return nil
		}
		list, _ := reply.([]any)
		if len(list) != 3 {
			return unexpected(reply)
		}
		var ok1, ok2 bool
		p.last, ok1 = list[0].(string)
		p.version, ok2 = list[1].(string)
		if !ok1 || !ok2 {
			return unexpected(reply)
		}
		p.ids, err = textList(list[2])
		return err
	})
	if err == nil && p.last == "" {
		err = errRewound
	}
	return p, err
}
