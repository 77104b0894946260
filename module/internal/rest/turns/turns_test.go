package turns

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever keeps sending large bodies, under however many names, does not keep others from having theirs checked.
func TestCallersHaveTheirTurnsOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		done, err := turns.Take(Caller{Client: "greedy", Share: "a"})
		if err != nil {
			t.Fatal(err)
		}
		var got []caller
		wait := func(times int, c Caller) {
			for range times {
				go func() {
					done, err := turns.Take(c)
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
		time.Sleep(Patience)
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
		turns := New(1)
		done, err := turns.Take(Caller{Client: "c"})
		if err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		begun := time.Now()
		var left atomic.Int64
		for range maxWaitingEach {
			go func() {
				if _, err := turns.Take(Caller{Client: "c", Gone: gone}); errors.Is(err, ErrGone) && errors.Is(err, context.Canceled) && time.Since(begun) == time.Second {
					left.Add(1)
				}
			}()
			synctest.Wait()
		}
		time.Sleep(time.Second)
		close(gone)
		synctest.Wait()
		if left.Load() != maxWaitingEach || len(turns.waiting) != 0 {
			t.Errorf("%d have left, %d wait", left.Load(), len(turns.waiting))
		}
		done()
		if turns.free != 1 {
			t.Errorf("%d turns are free", turns.free)
		}
	})
}

// A caller that keeps its connections open can fill the memory neither alone nor under many names, and clients that have
// had no turn still get theirs.
func TestFewWaitAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(1)
		done, err := turns.Take(Caller{Client: "greedy"})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		refused := make(map[string]int)
		wait := func(c Caller) {
			go func() {
				done, err := turns.Take(c)
				if err != nil {
					if !errors.Is(err, ErrNone) || time.Since(begun) != 0 {
						t.Error(c, err, time.Since(begun))
					}
					refused[c.Client]++
					return
				}
				done()
			}()
			synctest.Wait()
		}
		for range maxWaitingEach + 3 {
			wait(Caller{Client: "alone", Share: "a"})
		}
		if len(turns.waiting) != maxWaitingEach || refused["alone"] != 3 {
			t.Errorf("%d of one caller wait, %v are refused", len(turns.waiting), refused)
		}
		for i := range maxWaiting {
			wait(Caller{Client: "greedy", Share: strconv.Itoa(i)})
		}
		for range 2 {
			wait(Caller{Client: "modest"})
		}
		if len(turns.waiting) != maxWaiting || refused["alone"] != 3 || refused["modest"] != 0 || refused["greedy"] != maxWaitingEach+2 {
			t.Errorf("%d wait, %v are refused", len(turns.waiting), refused)
		}
		done()
		synctest.Wait()
		if turns.free != 1 || len(turns.waiting) != 0 {
			t.Errorf("%+v is left", turns)
		}
	})
}

func TestCallersWithTurnsAreForgotten(t *testing.T) {
	turns := New(1)
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
