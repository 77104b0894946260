package idempotent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/quota"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/store"
)

// lease is how long a request is taken for running.
const lease = 2 * time.Minute

// Config is a keeper's. All is required except where a default is given.
type Config struct {
	Store store.Backend
	// Attempt gives a text that nobody else has and nobody can guess.
	Attempt func() string
	Now     func() time.Time
	// Keep is how long a key is remembered. Default: 24 h.
	Keep time.Duration
	// Max is how many keys a client may use in Keep, and one of its users a tenth of them. All
	// callers without a token have ten times as many, and one network a tenth of that.
	// Default: 10,000.
	Max int
}

// Keeper knows the keys that were used. It is safe for concurrent use.
type Keeper struct {
	config Config
	keys   *quota.Quota
	room   *quota.Room // for answers
	doubts doubts
}

// New checks a config.
func New(c Config) (*Keeper, error) {
	if c.Store == nil || c.Attempt == nil || c.Now == nil {
		return nil, errors.New("idempotent: expected a store, names of attempts and a clock")
	}
	c.Keep, c.Max = cmp.Or(c.Keep, 24*time.Hour), cmp.Or(c.Max, 10_000)
	if c.Keep < lease || c.Max < 0 {
		return nil, fmt.Errorf("idempotent: keep %v, max %d: expected at least %v, and a positive number", c.Keep, c.Max, lease)
	}
	counted := quota.Config{Store: c.Store, Now: c.Now, Keep: c.Keep}
	return &Keeper{config: c, keys: quota.New(counted), room: quota.NewRoom("idempotency room", counted)}, nil
}

// Attempt is a request that is the first with its key. Exactly one of its methods is to
// be called when it is over; if none is, the outcome is unknown when the lease has ended.
type Attempt struct {
	keeper *Keeper
	key    Key
	stored store.Record // as it was created
	state  store.Idempotency
}

// Begin finds out whether the request with this key and digest is to be carried out: then
// it returns an attempt, and that is durable. Else it returns the first answer or a
// refusal. An error is a fault of the ledger: nothing may be sent.
func (k *Keeper) Begin(ctx context.Context, key Key, digest string) (*Attempt, *Answer, *envelope.Refusal, error) {
	at := key.record()
	var found store.Idempotency
	read, err := store.Read(ctx, k.config.Store, at, &found)
	if err == nil {
		if found.State == begun && found.Digest == digest && k.doubts.take(at, found.Attempt) {
			a, err := k.resume(ctx, key, read, found)
			return a, nil, nil, err
		}
		return k.again(key, found, digest)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, nil, nil, err
	}
	if refused, err := k.count(ctx, key); refused != nil || err != nil {
		return nil, nil, refused, err
	}
	if err := ctx.Err(); err != nil {
		k.giveBack(key)
		return nil, nil, nil, err
	}
	// A client that leaves while the key is written must find out, when it comes back, what came
	// of its request, and not that nobody knows.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	now := k.config.Now()
	a := &Attempt{keeper: k, key: key, state: store.Idempotency{
		Digest: digest, State: begun, Attempt: k.config.Attempt(), Lease: now.Add(lease),
	}}
	record := store.Record{Key: at, Expires: now.Add(k.config.Keep)}
	a.stored, err = store.Create(ctx, k.config.Store, record, &a.state)
	if err == nil {
		return a, nil, nil, nil
	}
	// Somebody was faster, or the reply was lost: the record tells.
	found = store.Idempotency{}
	stored, again := store.Read(ctx, k.config.Store, at, &found)
	switch {
	case again == nil && found.Attempt == a.state.Attempt:
		record.Version = stored.Version
		a.stored = record
		return a, nil, nil, nil
	case again == nil:
		k.giveBack(key)
		return k.again(key, found, digest)
	case errors.Is(err, store.ErrExists):
		return nil, nil, nil, again // gone again, or out of reach: the client may repeat it
	}
	k.doubts.add(at, a.state.Attempt)
	return nil, nil, nil, err
}

// resume goes on with an attempt for which nothing was sent, because the store did not say that it
// had created the record.
func (k *Keeper) resume(ctx context.Context, key Key, read store.Record, found store.Idempotency) (*Attempt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	a := &Attempt{keeper: k, key: key, state: found}
	now := k.config.Now()
	a.state.Lease, read.Expires = now.Add(lease), now.Add(k.config.Keep)
	var err error
	a.stored, err = store.Swap(ctx, k.config.Store, read, &a.state)
	if err != nil {
		k.doubts.add(read.Key, found.Attempt)
		return nil, err
	}
	return a, nil
}

// count counts one more key for those who have to do with it.
func (k *Keeper) count(ctx context.Context, key Key) (*envelope.Refusal, error) {
	wait, err := k.keys.Take(ctx, 1, key.accounts(k.config.Max)...)
	if err != nil || wait == 0 {
		return nil, err
	}
	return &envelope.Refusal{
		Status: http.StatusTooManyRequests, Field: Header, Message: "too many keys were used: Retry-After says when there is room for another",
		Header: http.Header{"Retry-After": {strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10)}},
	}, nil
}

// giveBack takes a key out of the count again, of which no record is left.
func (k *Keeper) giveBack(key Key) { k.keys.GiveBack(1, key.accounts(k.config.Max)...) }

// again is for a request whose key is known.
func (k *Keeper) again(key Key, found store.Idempotency, digest string) (*Attempt, *Answer, *envelope.Refusal, error) {
	if refused := judge(found, digest, k.config.Now()); refused != nil {
		return nil, nil, refused, nil
	}
	plain, err := key.open(found.Attempt, found.Answer)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("idempotent: a kept answer cannot be read: %w", err)
	}
	a := new(Answer)
	if err := json.Unmarshal(plain, a); err != nil {
		return nil, nil, nil, fmt.Errorf("idempotent: a kept answer cannot be read: %w", err)
	}
	return nil, a, nil, nil
}

// Keep keeps the answer, or only that there was one when it is too large, or when the answers of this
// caller take too much room already. When it returns nil, every repetition is answered so.
func (a *Attempt) Keep(ctx context.Context, answer Answer) error {
	plain, err := answer.encode()
	if err != nil || !a.keeper.hasRoom(ctx, a.key, answer.size()) {
		return a.Know(ctx, answer.Status)
	}
	v := a.state
	v.State, v.Status, v.Answer = kept, answer.Status, a.key.seal(v.Attempt, plain)
	return a.write(ctx, v)
}

// uncounted is how large an answer may be without being counted: the number of keys bounds the room that such answers take.
const uncounted = 1 << 10

func (k *Keeper) hasRoom(ctx context.Context, key Key, size int) bool {
	return size <= uncounted || k.room.Take(ctx, key.Client, key.Share, size)
}

// Know says that the request was answered, with an answer that is not kept.
func (a *Attempt) Know(ctx context.Context, status int) error {
	v := a.state
	v.State, v.Status = known, status
	return a.write(ctx, v)
}

// Lose says that the outcome is not known, and will not be.
func (a *Attempt) Lose(ctx context.Context) error {
	v := a.state
	v.State = lost
	return a.write(ctx, v)
}

// Undo says that nothing was done. The key can be used again, and does not count: otherwise
// requests that the upstream refuses would use up the keys of others.
//
// The record is not deleted but swapped for one that has expired. A delete that is repeated
// after a fault could remove the record of another request, if the first delete took effect
// and the key was used again in between: then that request could be carried out twice.
func (a *Attempt) Undo(ctx context.Context) error {
	err := a.swap(ctx, a.state, longAgo)
	if err != nil && !store.IsAnswer(err) {
		if err = a.swap(ctx, a.state, longAgo); store.IsAnswer(err) {
			err = nil // the first try took effect
		}
	}
	if err == nil {
		a.keeper.giveBack(a.key)
	}
	return err
}

// longAgo is a moment that is past by the clock of every node.
var longAgo = time.UnixMilli(1)

// write tries twice: nobody else changes the record, so a conflict means that the first
// try took effect.
func (a *Attempt) write(ctx context.Context, v store.Idempotency) error {
	err := a.swap(ctx, v, a.stored.Expires)
	if err == nil || store.IsAnswer(err) {
		return err
	}
	again := a.swap(ctx, v, a.stored.Expires)
	if errors.Is(again, store.ErrConflict) {
		return nil
	}
	return again
}

// swap puts v in the place of the record that the attempt created.
func (a *Attempt) swap(ctx context.Context, v store.Idempotency, expires time.Time) error {
	r := a.stored
	r.Expires = expires
	_, err := store.Swap(ctx, a.keeper.config.Store, r, &v)
	return err
}
