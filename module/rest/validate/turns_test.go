package validate

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLargeBodiesWaitForATurn(t *testing.T) {
	s := written(t, `{"properties":{"list":{"items":{"type":"string"}}}}`)
	large, refused := Parse([]byte(`{"list":[` + strings.Repeat("1,", largeBody) + `1]}`))
	if refused != nil {
		t.Fatal(refused)
	}
	small, refused := Parse([]byte(`{"list":[1]}`))
	if refused != nil {
		t.Fatal(refused)
	}
	laborious := written(t, `{"properties":{"list":{"items":{"enum":[`+strings.Repeat("[0,1],", 100)+`[0,2]]}}}}`)
	points, refused := Parse([]byte(`{"list":[` + strings.Repeat("[0,2],", 500) + `[0,2]]}`))
	if refused != nil {
		t.Fatal(refused)
	}
	synctest.Test(t, func(t *testing.T) {
		s.schema.turns = newTurns(1)
		done, err := s.schema.turns.take(Caller{})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if refused := s.Check(Caller{}, nil, small, false); refused == nil || refused.Field != "/list/0" || time.Since(begun) != 0 {
			t.Errorf("a small body: %v", refused)
		}
		if refused := s.Check(Caller{}, nil, large, false); refused == nil || refused.Status != 503 || refused.Header.Get("Retry-After") == "" || time.Since(begun) != patience {
			t.Errorf("a large body without a turn: %v after %v", refused, time.Since(begun))
		}
		laborious.schema.turns = s.schema.turns
		if refused := laborious.Check(Caller{}, nil, points, false); refused == nil || refused.Status != 503 || time.Since(begun) != 2*patience {
			t.Errorf("a laborious body without a turn: %v after %v", refused, time.Since(begun))
		}
		time.AfterFunc(time.Second, done)
		for range 2 { // each gives its turn back
			if refused := s.Check(Caller{}, nil, large, false); refused == nil || refused.Field != "/list/0" || time.Since(begun) != 2*patience+time.Second {
				t.Errorf("a large body: %v after %v", refused, time.Since(begun))
			}
		}
	})
}

// Whoever keeps sending large bodies, under however many names, does not keep others from having theirs checked.
func TestCallersHaveTheirTurnsOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		done, err := turns.take(Caller{Client: "greedy", Share: "a"})
		if err != nil {
			t.Fatal(err)
		}
		var got []caller
		wait := func(times int, c Caller) {
			for range times {
				go func() {
					done, err := turns.take(c)
					if err != nil {
						t.Error(c, err)
						return
					}
					got = append(got, caller{c.Client, c.Share})
					time.Sleep(time.Second)
					done()
				}()
				synctest.Wait()
			}
		}
		wait(2, Caller{Client: "greedy", Share: "a"})
		wait(1, Caller{Client: "greedy", Share: "b"})
		wait(2, Caller{Share: "192.0.2.0/24"})
		wait(1, Caller{Share: "198.51.100.0/24"})
		wait(1, Caller{Client: "modest", Share: "c"})
		done()
		time.Sleep(patience)
		turns.mu.Lock()
		defer turns.mu.Unlock()
		want := []caller{
			{"", "192.0.2.0/24"}, {"modest", "c"}, {"greedy", "b"}, {"", "198.51.100.0/24"},
			{"greedy", "a"}, {"", "192.0.2.0/24"}, {"greedy", "a"},
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v\nwant %v", got, want)
		}
		if turns.free != 1 || len(turns.waiting)+len(turns.clients)+len(turns.callers) != 0 {
			t.Errorf("%+v is left", turns)
		}
	})
}

// The bodies of clients that have gone are neither kept nor checked.
func TestWhoHasGoneWaitsForNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(1)
		done, err := turns.take(Caller{Client: "c"})
		if err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		begun := time.Now()
		var left atomic.Int64
		for range 100 {
			go func() {
				if _, err := turns.take(Caller{Client: "c", Gone: gone}); errors.Is(err, errGone) && errors.Is(err, context.Canceled) && time.Since(begun) == time.Second {
					left.Add(1)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		close(gone)
		synctest.Wait()
		if left.Load() != 100 || len(turns.waiting) != 0 {
			t.Errorf("%d have left, %d wait", left.Load(), len(turns.waiting))
		}
		done()
		if turns.free != 1 {
			t.Errorf("%d turns are free", turns.free)
		}
	})
}

func TestCallersWithTurnsAreForgotten(t *testing.T) {
	turns := newTurns(1)
	turns.enter(Caller{})
	for i := range 2 * remembered { // somebody always waits
		turns.enter(Caller{Share: strconv.Itoa(i)})
		if i > 0 {
			turns.end()
		}
	}
	if n := len(turns.callers); n > remembered || len(turns.waiting) != 1 {
		t.Errorf("%d callers are remembered, %d wait", n, len(turns.waiting))
	}
}
