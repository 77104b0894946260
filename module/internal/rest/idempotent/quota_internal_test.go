package idempotent

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// nowhere keeps nothing.
type nowhere struct{ store.Backend }

func (nowhere) Get(context.Context, store.Key) (store.Record, error) {
	return store.Record{}, store.ErrNotFound
}

func (nowhere) Create(_ context.Context, r store.Record) (store.Record, error) { return r, nil }

type contended struct{ nowhere }

func (contended) Create(_ context.Context, r store.Record) (store.Record, error) {
	return r, store.ErrExists
}

func TestReservationsAreBoundedByTheNumberOfClients(t *testing.T) {
	q := newQuota(Config{Store: nowhere{}, Now: time.Now, Keep: time.Hour, Max: 10})
	for i := range owners + 50 {
		if refused, err := q.take(t.Context(), account{fmt.Sprint(i), 10}); refused != nil || err != nil {
			t.Fatal(refused, err)
		}
	}
	if len(q.held) > owners {
		t.Errorf("%d reservations", len(q.held))
	}
}

func TestATallyThatChangesAtEveryTryIsAFault(t *testing.T) {
	q := newQuota(Config{Store: contended{}, Now: time.Now, Keep: time.Hour, Max: 10})
	if refused, err := q.take(t.Context(), account{"x", 10}); refused != nil || err == nil {
		t.Error(refused, err)
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

func TestATallyThatChangedIsReadAgain(t *testing.T) {
	c := new(crossed)
	q := newQuota(Config{Store: c, Now: time.Now, Keep: time.Hour, Max: 10})
	if refused, err := q.take(t.Context(), account{"x", 10}); refused != nil || err != nil || c.puts != 2 {
		t.Error(refused, err, c.puts)
	}
}
