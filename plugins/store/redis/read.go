package redis

import (
	"context"

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
	err := b.readCall(ctx, func(ctx context.Context) error {
		name := b.recordKey(key)
		if err := b.confirmWrites(ctx, name); err != nil {
			return err
		}
		raw, err := redisconn.Do(ctx, b.client, name, "GET", name)
		if err != nil {
			return err
		}
		text, found, err := text(raw)
		if err != nil {
			return err
		}
		if !found {
			return store.ErrNotFound
		}
		if r, err = decodeRecord(key, text); err != nil {
			return err
		}
		if !b.isLive(r) {
			return store.ErrNotFound
		}
		return nil
	})
	if err != nil {
		return store.Record{}, err
	}
	return r, nil
}

// confirmWrites waits for the replicas to have what this node wrote to a record and was not
// told to have succeeded.
func (b *Backend) confirmWrites(ctx context.Context, name string) error {
	if b.wait.Replicas == 0 {
		return nil
	}
	since, found := b.unconfirmed.findKey(name)
	if !found {
		return nil
	}
	if _, err := scriptConfirm.RunAndWait(ctx, b.client, b.wait, []string{name}); err != nil {
		return err
	}
	b.unconfirmed.dropKey(name, since)
	return nil
}

// List implements store.Backend.
func (b *Backend) List(ctx context.Context, kind store.Kind, parent, after string, limit int) ([]store.Record, error) {
	if tooLong(store.Key{Kind: kind, ID: after}) || len(parent) > store.MaxKeyLength {
		return nil, errTooLong
	}
	var found []store.Record
	for len(found) < limit {
		n := min(limit-len(found), readAtOnce)
		ids, err := b.listChildren(ctx, kind, parent, after, n)
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
			// What cannot be removed now is in nobody's way.
			_ = b.writeCall(ctx, func(ctx context.Context) error { return b.forgetChildren(ctx, kind, parent, gone...) })
		}
		if len(ids) < n {
			break
		}
		after = ids[len(ids)-1]
	}
	return found, b.refuseReason(ctx)
}

// listChildren reads a page of the index.
func (b *Backend) listChildren(ctx context.Context, kind store.Kind, parent, after string, n int) ([]string, error) {
	name, from := b.indexKeys(kind, parent)[0], "-"
	if after != "" {
		from = "(" + after
	}
	var ids []string
	err := b.readCall(ctx, func(ctx context.Context) error {
		reply, err := redisconn.Do(ctx, b.client, name, "ZRANGEBYLEX", name, from, "+", "LIMIT", 0, n)
		if err != nil {
			return err
		}
		ids, err = textList(reply)
		return err
	})
	return ids, err
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
		err := b.readCall(ctx, func(ctx context.Context) error {
			values, err := redisconn.Values(ctx, b.client, keys)
			if err != nil {
				return err
			}
			for i, value := range values {
				text, found, err := text(value)
				if err != nil {
					return err
				}
				if !found {
					gone = append(gone, page[i])
					continue
				}
				r, err := decodeRecord(store.Key{Kind: kind, ID: page[i]}, text)
				if err != nil {
					return err
				}
				if b.isLive(r) {
					records = append(records, r)
				} else {
					gone = append(gone, page[i])
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

// text returns a reply that is a text; found is false for nil, which says that there is none.
// A reply of another type says nothing about the record: it is a fault, and not a missing record.
func text(reply any) (value string, found bool, err error) {
	if reply == nil {
		return "", false, nil
	}
	value, found = reply.(string)
	if !found {
		return "", false, unexpected(reply)
	}
	return value, true, nil
}

func textList(reply any) ([]string, error) {
	list, ok := reply.([]any)
	if !ok {
		return nil, unexpected(reply)
	}
	found := make([]string, len(list))
	for i, v := range list {
		if found[i], ok = v.(string); !ok {
			return nil, unexpected(v)
		}
	}
	return found, nil
}
