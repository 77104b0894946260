package redis

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/internal/redisconn"
)

// readAtOnce is how many records one question asks for: at most 25 MiB.
const readAtOnce = 100

// Get implements store.Backend.
func (b *Backend) Get(ctx context.Context, key store.Key) (store.Record, error) {
	if tooLong(key) {
		return store.Record{}, errTooLong
	}
	var r store.Record
	err := b.boundedCall(ctx, reads, func(ctx context.Context) error {
		name := b.recordKey(key)
		if err := b.confirmWrites(ctx, name); err != nil {
			return err
		}
		raw, err := redisconn.Do(ctx, b.client, name, "GET", name)
		if err != nil {
			return err
		}
		r, err = b.decodeLive(key, raw)
		return err
	})
	return r, err
}

// decodeLive reads the value of a record. ErrNotFound is that of one that is not live.
func (b *Backend) decodeLive(key store.Key, raw any) (store.Record, error) {
	if raw == nil {
		return store.Record{}, store.ErrNotFound
	}
	text, err := replyAs[string](raw)
	if err != nil {
		return store.Record{}, err
	}
	r, err := decodeRecord(key, text)
	if err == nil && b.now != nil && !r.Expires.IsZero() && b.now().UnixMilli() >= r.Expires.UnixMilli() {
		return store.Record{}, store.ErrNotFound // by the clock given; else Redis has judged
	}
	return r, err
}

// List implements store.Backend.
func (b *Backend) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	if tooLong(store.Key{Kind: kind, ID: after}) || len(parent) > store.MaxKeyLength {
		return nil, errTooLong
	}
	var found []store.Record
	for len(found) < limit {
		n := min(limit-len(found), readAtOnce)
		ids, young, err := b.listChildren(ctx, kind, parent, after, n)
		if err != nil {
			return nil, err
		}
		records, gone, err := b.fetchRecords(ctx, kind, ids)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			if r.Parent == parent { // else an entry of one that was refused, or came before
				found = append(found, r)
			} else {
				gone = append(gone, r.ID)
			}
		}
		if len(gone) > 0 {
			b.forgetGone(ctx, kind, parent, gone, young)
		}
		if len(ids) < n {
			break
		}
		after = ids[len(ids)-1]
	}
	return found, b.refuseReason(ctx)
}

// fetchRecords reads records in the order of their IDs. gone are those that are not live.
func (b *Backend) fetchRecords(ctx context.Context, kind store.Kind, ids []string) (records []store.Record, gone []string, err error) {
	for len(ids) > 0 {
		page := ids[:min(len(ids), readAtOnce)]
		ids = ids[len(page):]
		keys := make([]string, len(page))
		for i, id := range page {
			keys[i] = b.recordKey(store.Key{Kind: kind, ID: id})
		}
		err := b.boundedCall(ctx, reads, func(ctx context.Context) error {
			values, err := redisconn.Values(ctx, b.client, keys)
			if err != nil {
				return err
			}
			for i, value := range values {
				r, err := b.decodeLive(store.Key{Kind: kind, ID: page[i]}, value)
				switch {
				case errors.Is(err, store.ErrNotFound):
					gone = append(gone, page[i])
				case err != nil:
					return err
				default:
					records = append(records, r)
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return records, gone, nil
}

// replyAs returns a reply that must be of type T. One of another type says nothing about the record: it is a fault, and
// not a missing record.
func replyAs[T any](reply any) (T, error) {
	value, ok := reply.(T)
	if !ok {
		return value, fmt.Errorf("store redis: a script answered %T", reply)
	}
	return value, nil
}

func textList(reply any) ([]string, error) {
	list, err := replyAs[[]any](reply)
	found := make([]string, len(list))
	for i := 0; i < len(list) && err == nil; i++ {
		found[i], err = replyAs[string](list[i])
	}
	return found, err
}
