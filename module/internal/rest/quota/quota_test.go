package quota

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// nowhere keeps nothing.
type nowhere struct{ store.Backend }

func (nowhere) Get(context.Context, store.Key) (store.Record, error) {
	return store.Record{}, store.ErrNotFound
}

func (nowhere) Create(_ context.Context, r store.Record) (store.Record, error) { return r, nil }

// hasty is a store that does not wait for its writes to take effect once a caller has gone, as bolt.
type hasty struct {
	store.Backend
	leave func()
}

func (h *hasty) Create(ctx context.Context, r store.Record) (store.Record, error) {
	r, err := h.Backend.Create(ctx, r)
	return h.answer(ctx, r, err)
}

func (h *hasty) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	r, err := h.Backend.Swap(ctx, r)
	return h.answer(ctx, r, err)
}

func (h *hasty) answer(ctx context.Context, r store.Record, err error) (store.Record, error) {
	h.leave()
	if ctx.Err() != nil {
		return store.Record{}, ctx.Err()
	}
	return r, err
}

// Otherwise each costs the client sixteen keys, and one user can use up those of all.
func TestClientsThatLeaveLoseNoReservation(t *testing.T) {
	const used = 100
	h := &hasty{Backend: storetest.NewMemory(time.Now)}
	q := New(Config{Store: h, Now: time.Now, Keep: time.Hour})
	for range used {
		ctx, leave := context.WithCancel(t.Context())
		h.leave = leave
		if wait, _ := q.Take(ctx, 1, Account{"client", 10_000}); wait > 0 {
			t.Fatal(wait)
		}
		leave()
	}
	var tally store.KeyTally
	if _, err := store.Read(t.Context(), h, store.Key{Kind: store.KindKeyTally, ID: "client"}, &tally); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, n := range tally.Hours {
		counted += n
	}
	if counted > used+mostAhead {
		t.Errorf("%d keys are counted of %d that were used", counted, used)
	}
}

type contended struct{ nowhere }

func (contended) Create(_ context.Context, r store.Record) (store.Record, error) {
	return r, store.ErrExists
}

// Whoever comes with ever new names uses up nobody else's keys.
func TestReservationsAreLimitedAndFree(t *testing.T) {
	const most, keys, each = 64, 1024, 40
	for _, times := range []int{1, 2, 10} {
		at := time.Unix(1_900_000_000, 0)
		q := New(Config{Store: storetest.NewMemory(func() time.Time { return at }), Now: func() time.Time { return at }, Keep: time.Hour})
		q.owners = most
		take := func(owner string) {
			if wait, err := q.Take(t.Context(), 1, Account{owner, keys}); wait > 0 || err != nil {
				t.Fatalf("%d x: %s: %v, %v", times, owner, wait, err)
			}
		}
		for i := range each {
			take("seldom")
			for j := range times * most {
				take(fmt.Sprint("round ", i, ", number ", j))
			}
			if n := len(q.held); n > most {
				t.Fatalf("%d x: %d reservations, at most %d may be", times, n, most)
			}
		}
		var tally store.KeyTally
		if _, err := store.Read(t.Context(), q.config.Store, store.Key{Kind: store.KindKeyTally, ID: "seldom"}, &tally); err != nil {
			t.Fatal(err)
		}
		counted := 0
		for _, n := range tally.Hours {
			counted += n
		}
		if counted < each || counted > each+3*mostAhead {
			t.Errorf("%d x: %d keys are counted of %d that were used", times, counted, each)
		}
	}
}

// Who comes often pays for few writes, however many others there are.
func TestFrequentCallersReserveAhead(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	c := &counting{Backend: storetest.NewMemory(func() time.Time { return at })}
	q := New(Config{Store: c, Now: func() time.Time { return at }, Keep: time.Hour})
	q.owners = 4
	for i := range 4 {
		if _, err := q.Take(t.Context(), 1, Account{fmt.Sprint(i), 1024}); err != nil {
			t.Fatal(err)
		}
	}
	c.writes = 0
	const taken = 1 + 2 + 4 + 8 + 16*4
	for range taken {
		if wait, err := q.Take(t.Context(), 1, Account{"often", 1024}); wait > 0 || err != nil {
			t.Fatal(wait, err)
		}
	}
	if c.writes != 4+4 {
		t.Errorf("%d keys cost %d writes", taken, c.writes)
	}
}

type counting struct {
	store.Backend
	writes int
}

func (c *counting) Create(ctx context.Context, r store.Record) (store.Record, error) {
	c.writes++
	return c.Backend.Create(ctx, r)
}

func (c *counting) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	c.writes++
	return c.Backend.Swap(ctx, r)
}

func TestQuotaThatChangesAtEveryTryIsAFault(t *testing.T) {
	q := New(Config{Store: contended{}, Now: time.Now, Keep: time.Hour})
	if wait, err := q.Take(t.Context(), 1, Account{"x", 10}); wait > 0 || err == nil {
		t.Error(wait, err)
	}
}

// crossed is a tally that another node writes just before the first try.
type crossed struct {
	nowhere
	puts int
}

func (c *crossed) Create(_ context.Context, r store.Record) (store.Record, error) {
	if c.puts++; c.puts == 1 {
		return r, store.ErrExists
	}
	return r, nil
}

func TestChangedQuotaIsReadAgain(t *testing.T) {
	c := new(crossed)
	q := New(Config{Store: c, Now: time.Now, Keep: time.Hour})
	if wait, err := q.Take(t.Context(), 1, Account{"x", 10}); wait > 0 || err != nil || c.puts != 2 {
		t.Error(wait, err, c.puts)
	}
}
