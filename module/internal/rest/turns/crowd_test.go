package turns

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A client whose users fill all places keeps no other client from having several bodies checked.
func TestPlacesAreTakenFromWhoeverHasMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		turns := New(1)
		got, refused := make(map[string]int), make(map[string]int)
		ask := func(c Caller) {
			go func() {
				done, err := turns.Take(c)
				mu.Lock()
				if err != nil {
					refused[c.Client]++
					mu.Unlock()
					return
				}
				got[c.Client]++
				mu.Unlock()
				time.Sleep(time.Second)
				done()
			}()
			synctest.Wait()
		}
		want := func(times int) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if got["modest"] != times || refused["modest"] != 0 {
				t.Errorf("turns %v, refused %v", got, refused)
			}
		}
		crowd := func() {
			for i := range maxWaiting {
				ask(Caller{Client: "greedy", Share: strconv.Itoa(i)})
			}
		}
		ask(Caller{Client: "greedy"})
		crowd()
		ask(Caller{Client: "modest", Share: "a"})
		time.Sleep(time.Second)
		synctest.Wait() // modest has its turn
		crowd()
		for range 3 {
			ask(Caller{Client: "modest", Share: "b"})
		}
		want(1)
		time.Sleep(Patience)
		synctest.Wait()
		want(4)
	})
}

// Of the client that has most waiting, the caller with most gives way, and of several the one whose turn would come last.
func TestPlacesAreTakenFromTheCallerThatHasMost(t *testing.T) {
	fill := func(turns *Turns) {
		for i := range maxWaiting - len(turns.waiting) {
			turns.enter(Caller{Client: "c", Share: strconv.Itoa(i)})
		}
	}
	waits := func(turns *Turns, w *waiter) bool { return slices.Contains(turns.waiting, w) }

	turns := New(1)
	turns.enter(Caller{})
	turns.enter(Caller{Client: "c", Share: "most"})
	later := turns.enter(Caller{Client: "c", Share: "most"})
	fill(turns)
	if w := turns.enter(Caller{Client: "c", Share: "new"}); !waits(turns, w) || waits(turns, later) {
		t.Error("another caller than the one with most waiting gave way")
	}

	turns = New(1)
	turns.enter(Caller{Client: "c", Share: "had a turn"})
	again := turns.enter(Caller{Client: "c", Share: "had a turn"})
	fill(turns)
	if w := turns.enter(Caller{Client: "c", Share: "new"}); !waits(turns, w) || waits(turns, again) {
		t.Error("another caller than the one whose turn would come last gave way")
	}
}
