package crossdevice_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func storeOf(*testing.T) store.Backend { return storetest.NewMemory(nil) }

// answer is what a wait came to.
type answer struct {
	ticket store.Ticket
	err    error
	after  time.Duration
}

func (r rig) wait(ctx context.Context, id string, last store.TicketState) <-chan answer {
	c := make(chan answer, 1)
	go func() {
		begin := time.Now()
		ticket, err := r.Wait(ctx, id, last)
		c <- answer{ticket, err, time.Since(begin)}
	}()
	return c
}

func check(t *testing.T, a answer, state store.TicketState, want error, least, most time.Duration) {
	t.Helper()
	if a.ticket.State != state || !errors.Is(a.err, want) || a.after < least || a.after > most {
		t.Errorf("came to %s, %v after %v", a.ticket.State, a.err, a.after)
	}
}

func TestWaitEndsAtOnceOnAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id, _ := r.begin(t, store.TicketScan)
		check(t, <-r.wait(t.Context(), id, ""), store.TicketPending, nil, 0, 0)
		check(t, <-r.wait(t.Context(), id, store.TicketScanned), store.TicketPending, nil, 0, 0)
		r.Close()
	})
}

// B26
func TestWaitWithoutChangeEndsAfterHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id, _ := r.begin(t, store.TicketScan)
		check(t, <-r.wait(t.Context(), id, store.TicketPending), store.TicketPending, nil, 25*time.Second, 25*time.Second)
		r.Close()
	})
}

func TestWaitEndsWhenTheTicketExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id, _ := r.begin(t, store.TicketScan)
		time.Sleep(110 * time.Second)
		a := <-r.wait(t.Context(), id, store.TicketPending)
		check(t, a, store.TicketPending, nil, 10*time.Second, 11*time.Second)
		if !a.ticket.Over(time.Now()) {
			t.Error("it is not over")
		}
		check(t, <-r.wait(t.Context(), id, store.TicketPending), store.TicketPending, nil, 0, 0)
		r.Close()
	})
}

// B29
func TestDisconnectedWaiterIsRemovedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *crossdevice.Config) { c.MaxWaiting = 1 })
		id, _ := r.begin(t, store.TicketScan)
		other, _ := r.begin(t, store.TicketScan)
		ctx, hangUp := context.WithCancel(t.Context())
		a := r.wait(ctx, id, store.TicketPending)
		synctest.Wait()
		check(t, <-r.wait(t.Context(), other, store.TicketPending), store.TicketPending, crossdevice.ErrFull, 0, 0)
		hangUp()
		check(t, <-a, store.TicketPending, context.Canceled, 0, 0)
		check(t, <-r.wait(t.Context(), other, store.TicketPending), store.TicketPending, nil, 25*time.Second, 25*time.Second)
		r.Close()
	})
}

func TestNewerWaitReplacesAnOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *crossdevice.Config) { c.MaxWaiting = 1 })
		id, _ := r.begin(t, store.TicketScan)
		older := r.wait(t.Context(), id, store.TicketPending)
		synctest.Wait()
		newer := r.wait(t.Context(), id, store.TicketPending)
		check(t, <-older, store.TicketPending, crossdevice.ErrReplaced, 0, 0)
		synctest.Wait()
		if _, err := r.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		check(t, <-newer, store.TicketScanned, nil, 0, 0)
		r.Close()
	})
}

func TestWaitsAboveTheCapReturnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 500
		r := newRig(t, func(c *crossdevice.Config) { c.MaxWaiting = most })
		var waiting []<-chan answer
		for range most {
			id, _ := r.begin(t, store.TicketScan)
			waiting = append(waiting, r.wait(t.Context(), id, store.TicketPending))
		}
		synctest.Wait()
		for range 9 * most {
			id, _ := r.begin(t, store.TicketScan)
			check(t, <-r.wait(t.Context(), id, store.TicketPending), store.TicketPending, crossdevice.ErrFull, 0, 0)
		}
		id, _ := r.begin(t, store.TicketScan)
		if _, err := r.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		check(t, <-r.wait(t.Context(), id, store.TicketPending), store.TicketScanned, nil, 0, 0)
		time.Sleep(time.Minute)
		for _, a := range waiting {
			check(t, <-a, store.TicketPending, nil, 25*time.Second, 25*time.Second)
		}
		r.Close()
	})
}

// B30
func TestCloseEndsAllWaitsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id, begun := r.begin(t, store.TicketScan)
		other, _ := r.begin(t, store.TicketScan)
		waiting := []<-chan answer{r.wait(t.Context(), id, store.TicketPending), r.wait(t.Context(), other, store.TicketPending)}
		time.Sleep(5 * time.Second)
		r.Close()
		r.Close()
		for _, a := range waiting {
			check(t, <-a, store.TicketPending, nil, 5*time.Second, 5*time.Second)
		}
		check(t, <-r.wait(t.Context(), id, store.TicketPending), store.TicketPending, nil, 0, 0)
		// What was begun goes on elsewhere, and here too.
		next, err := crossdevice.New(crossdevice.Config{Store: r.store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.Scan(t.Context(), id, alice); err != nil {
			t.Error(err)
		}
		if _, err := r.Decide(t.Context(), id, alice, true, begun.Number); err != nil {
			t.Error(err)
		}
	})
}

func TestNothingRunsWithoutWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{Memory: storetest.NewMemory(nil)}
		r := newRig(t, func(c *crossdevice.Config) { c.Store = w })
		id, begun := r.begin(t, store.TicketScan)
		if _, err := r.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		if n := w.running(); n != 0 {
			t.Errorf("%d watches without a waiter", n)
		}
		for range 3 { // one poll after another is one watch
			ctx, hangUp := context.WithCancel(t.Context())
			a := r.wait(ctx, id, store.TicketScanned)
			synctest.Wait()
			hangUp()
			<-a
			time.Sleep(time.Second)
		}
		if w.running() != 1 || w.begun != 1 {
			t.Errorf("%d watches run, %d were begun", w.running(), w.begun)
		}
		time.Sleep(3 * time.Second)
		if n := w.running(); n != 0 {
			t.Errorf("%d watches are left", n)
		}
		if _, err := r.Decide(t.Context(), id, alice, true, begun.Number); err != nil {
			t.Fatal(err)
		}
		// Without Close: a goroutine that were left would end this test in a deadlock.
	})
}
