package idempotent

import (
	"context"
	"fmt"
	"testing"
	"time"
)

type nowhere struct{}

func (nowhere) GetTally(context.Context, string) (Tally, uint64, error) { return Tally{}, 0, nil }
func (nowhere) PutTally(context.Context, string, uint64, Tally, time.Time) error {
	return nil
}

type contended struct{ nowhere }

func (contended) PutTally(context.Context, string, uint64, Tally, time.Time) error {
	return ErrConflict
}

func TestReservationsAreBoundedByTheNumberOfClients(t *testing.T) {
	q := newQuota(Config{Tallies: nowhere{}, Now: time.Now, Keep: time.Hour, Max: 10})
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
	q := newQuota(Config{Tallies: contended{}, Now: time.Now, Keep: time.Hour, Max: 10})
	if refused, err := q.take(t.Context(), account{"x", 10}); refused != nil || err == nil {
		t.Error(refused, err)
	}
}

// crossed is a tally that another node writes just before the first try.
type crossed struct {
	nowhere
	puts int
}

func (c *crossed) PutTally(context.Context, string, uint64, Tally, time.Time) error {
	if c.puts++; c.puts == 1 {
		return ErrConflict
	}
	return nil
}

func TestATallyThatChangedIsReadAgain(t *testing.T) {
	c := new(crossed)
	q := newQuota(Config{Tallies: c, Now: time.Now, Keep: time.Hour, Max: 10})
	if refused, err := q.take(t.Context(), account{"x", 10}); refused != nil || err != nil || c.puts != 2 {
		t.Error(refused, err, c.puts)
	}
}
