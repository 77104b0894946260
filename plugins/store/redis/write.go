package redis

import (
	"context"
	"errors"
	"strconv"

	"github.com/gatehouse/gatehouse/module/store"
)

// onTheWay is how long a record may take behind its entry in the index, in milliseconds.
// It must be much shorter than what lua/index.lua calls settled.
const onTheWay = 60_000

// maxTold bounds how often a swap tells the index of a longer life: once, and again for
// each time another writer comes between.
const maxTold = 4

var errReply = errors.New("store redis: a script gave an answer of another form")

var errTooLate = errors.New("store redis: the write came too late to count")

// Create implements store.Backend.
func (b *Backend) Create(ctx context.Context, r store.Record) (store.Record, error) {
	if tooLong(r.Key) || len(r.Parent) > store.MaxKeyLength || len(r.Value) > store.MaxValueLength {
		return store.Record{}, errTooLong
	}
	r.Version = b.versions.nextVersion()
	expires := toMillis(r.Expires)
	until := indexExpiry(expires, b.approximateNow())
	err := b.boundedCall(ctx, writes, func(ctx context.Context) error {
		keys, deadline := []string{b.recordKey(r.Key)}, ""
		switch {
		case b.watched[r.Kind]:
			keys = append(append(keys, b.indexKeys(r.Kind, r.Parent)[0]), b.feedKeys(r.Kind)...)
		case r.Parent == "":
		case b.oneScript(r.Kind):
			keys = append(keys, b.indexKeys(r.Kind, r.Parent)[0])
		default:
			noted, err := b.noteChild(ctx, r.Key, r.Parent, until)
			if err != nil {
				return err
			}
			at, err := strconv.ParseInt(noted, 10, 64)
			if err != nil {
				return err
			}
			deadline = strconv.FormatInt(at+onTheWay, 10)
		}
		reply, err := scriptCreate.RunAndWait(ctx, b.client, b.wait, keys, b.scriptClock(), encodeHead(r, until)+string(r.Value), expires,
			deadline, r.ID, r.Parent, until, hexVersion(r.Version), b.notifyChannel(r.Kind), b.waitFlag(), entryName(r.ID))
		if err != nil {
			return err
		}
		code, err := replyAs[int64](reply)
		switch {
		case err != nil || code == 1:
			return err
		case code == 0:
			return store.ErrExists
		case code == 2:
			return errTooLate
		}
		return errReply
	})
	if err != nil {
		b.recordUncertain(r.Key, err)
		return store.Record{}, err
	}
	r.Expires = fromMillis(expires)
	return r, nil
}

// recordUncertain remembers a write that may have taken effect on the primary alone.
func (b *Backend) recordUncertain(k store.Key, err error) {
	if b.wait.Replicas > 0 && !store.IsAnswer(err) && !errors.Is(err, errClosed) {
		b.unconfirmed.addKey(b.recordKey(k))
	}
}

// waitFlag tells a script whether what it found must be on the replicas before it is said.
func (b *Backend) waitFlag() string {
	if b.wait.Replicas > 0 {
		return "1"
	}
	return ""
}

// oneScript says that one script writes a record and its entry in the index. Between two,
// a failover could undo the first and leave a record that no List finds.
func (b *Backend) oneScript(kind store.Kind) bool { return b.watched[kind] || !b.settings.Cluster() }

// Swap implements store.Backend.
func (b *Backend) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	if tooLong(r.Key) || len(r.Value) > store.MaxValueLength {
		return store.Record{}, errTooLong
	}
	old := r.Version
	r.Version = b.versions.nextVersion()
	expires := toMillis(r.Expires)
	keys := []string{b.recordKey(r.Key), b.recordKey(r.Key)}
	if b.watched[r.Kind] {
		keys[1] = b.feedKeys(r.Kind)[1]
	}
	err := b.boundedCall(ctx, writes, func(ctx context.Context) error {
		told, parent := "", ""
		for range maxTold {
			reply, err := scriptSwap.RunAndWait(ctx, b.client, b.wait, keys, b.scriptClock(), hexVersion(old), hexVersion(r.Version),
				padDecimal(expires), r.Value, parent, told, r.ID, b.waitFlag(), entryName(r.ID))
			if err != nil {
				return err
			}
			code, kept, err := parsePair(reply)
			if err != nil {
				return err
			}
			switch code {
			case 0:
				return store.ErrNotFound
			case 1:
				return store.ErrConflict
			case 3:
				r.Parent = kept
				return nil
			}
			until := indexExpiry(expires, b.approximateNow())
			if b.oneScript(r.Kind) {
				keys = append(keys[:2:2], b.indexKeys(r.Kind, kept)[0])
			} else if _, err := b.noteChild(ctx, r.Key, kept, until); err != nil {
				return err
			}
			parent, told = kept, padDecimal(until)
		}
		return store.ErrConflict
	})
	if err != nil {
		b.recordUncertain(r.Key, err)
		return store.Record{}, err
	}
	r.Expires = fromMillis(expires)
	return r, nil
}

// Delete implements store.Backend.
func (b *Backend) Delete(ctx context.Context, key store.Key) error {
	if tooLong(key) {
		return errTooLong
	}
	keys := []string{b.recordKey(key)}
	if b.watched[key.Kind] {
		keys = append(keys, b.feedKeys(key.Kind)[:2]...)
	}
	err := b.boundedCall(ctx, writes, func(ctx context.Context) error {
		reply, err := scriptDelete.RunAndWait(ctx, b.client, b.wait, keys, b.scriptClock(), key.ID, b.waitFlag())
		if err != nil {
			return err
		}
		parent, err := replyAs[string](reply)
		if parent != "" {
			// It only saves the next List the look: the record is gone, whatever this says.
			_ = b.forgetChildren(ctx, key.Kind, parent, key.ID)
		}
		return err
	})
	if err != nil {
		b.recordUncertain(key, err)
	}
	return err
}

func parsePair(reply any) (code int64, text string, err error) {
	list, err := replyAs[[]any](reply)
	if err != nil || len(list) != 2 {
		return 0, "", errors.Join(err, errReply)
	}
	code, err = replyAs[int64](list[0])
	if err == nil {
		text, err = replyAs[string](list[1])
	}
	return code, text, err
}
