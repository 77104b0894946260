package crossdevice_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

var errAway = errors.New("the store is away")

// faulty is a store whose next swap comes to nothing with an error, or whose every swap
// finds that somebody was faster.
type faulty struct {
	*storetest.Memory
	mu       sync.Mutex
	swallow  bool
	conflict int
	swaps    int
}

func (f *faulty) Swap(ctx context.Context, r store.Record) (store.Record, error) {
	f.mu.Lock()
	f.swaps++
	swallow, conflict := f.swallow, f.conflict > 0
	f.swallow = false
	if conflict {
		f.conflict--
	}
	f.mu.Unlock()
	switch {
	case swallow:
		return store.Record{}, errAway
	case conflict:
		return store.Record{}, store.ErrConflict
	}
	return f.Memory.Swap(ctx, r)
}

func newFaulty(t *testing.T) (*faulty, rig) {
	f := &faulty{Memory: storetest.NewMemory(nil)}
	r := newRig(t, func(c *crossdevice.Config) { c.Store = f })
	r.store = f.Memory
	return f, r
}

func TestTransitionWithLostReplySucceeds(t *testing.T) {
	r := newRig(t)
	id, begun := r.begin(t, store.TicketScan)
	r.store.LoseReply(errAway)
	if ticket, err := r.Scan(t.Context(), id, alice); err != nil || ticket.State != store.TicketScanned {
		t.Errorf("scanned: %s, %v", ticket.State, err)
	}
	r.store.LoseReply(errAway)
	if ticket, err := r.Decide(t.Context(), id, alice, true, begun.Number); err != nil || ticket.State != store.TicketConfirmed {
		t.Errorf("confirmed: %s, %v", ticket.State, err)
	}
	r.store.LoseReply(errAway)
	if ticket, err := r.Deliver(t.Context(), id); err != nil || ticket.Delivered.IsZero() {
		t.Errorf("delivered: %v, %v", ticket.Delivered, err)
	}
}

func TestWrongNumberWithALostReplyStaysWrong(t *testing.T) {
	r := newRig(t)
	id, _ := r.begin(t, store.TicketScan)
	if _, err := r.Scan(t.Context(), id, alice); err != nil {
		t.Fatal(err)
	}
	r.store.LoseReply(errAway)
	if ticket, err := r.Decide(t.Context(), id, alice, true, "1"); !errors.Is(err, crossdevice.ErrNumber) || ticket.State != store.TicketDenied {
		t.Errorf("came to %s, %v", ticket.State, err)
	}
	id, _ = r.begin(t, store.TicketScan)
	if _, err := r.Scan(t.Context(), id, alice); err != nil {
		t.Fatal(err)
	}
	r.store.LoseReply(errAway)
	if ticket, err := r.Decide(t.Context(), id, alice, false, ""); err != nil || ticket.State != store.TicketDenied {
		t.Errorf("the denial came to %s, %v", ticket.State, err)
	}
}

func TestFailedTransitionCanBeRepeated(t *testing.T) {
	f, r := newFaulty(t)
	id, begun := r.begin(t, store.TicketScan)
	moves := []func() (store.Ticket, error){
		func() (store.Ticket, error) { return r.Scan(t.Context(), id, alice) },
		func() (store.Ticket, error) { return r.Decide(t.Context(), id, alice, true, begun.Number) },
		func() (store.Ticket, error) { return r.Deliver(t.Context(), id) },
	}
	for i, move := range moves {
		f.swallow = true
		if _, err := move(); !errors.Is(err, errAway) {
			t.Errorf("move %d: %v", i, err)
		}
		if _, err := move(); err != nil {
			t.Errorf("move %d again: %v", i, err)
		}
	}
}

func TestConflictingTransitionIsRetriedLimitedTimes(t *testing.T) {
	f, r := newFaulty(t)
	id, _ := r.begin(t, store.TicketScan)
	f.conflict = 3
	if _, err := r.Scan(t.Context(), id, alice); err != nil || f.swaps != 4 {
		t.Errorf("after three conflicts: %v, %d swaps", err, f.swaps)
	}
	id, _ = r.begin(t, store.TicketScan)
	f.conflict, f.swaps = 1000, 0
	if _, err := r.Scan(t.Context(), id, alice); err == nil || store.IsAnswer(err) || f.swaps != 8 {
		t.Errorf("in a store that never takes it: %v, %d swaps", err, f.swaps)
	}
}

func TestParallelScansHaveOneFirst(t *testing.T) {
	r := newRig(t)
	for range 20 {
		id, _ := r.begin(t, store.TicketScan)
		var first, taken int
		race(64, func(i int) {
			by := crossdevice.Person{Subject: "u", Session: string(rune('A' + i))}
			_, err := r.Scan(context.Background(), id, by)
			count(t, err, &first, crossdevice.ErrTaken, &taken)
		})
		if first != 1 || taken != 63 {
			t.Fatalf("%d were the first and %d came later", first, taken)
		}
	}
}

func TestParallelDecisionsCountOnce(t *testing.T) {
	r := newRig(t)
	for range 20 {
		id, begun := r.begin(t, store.TicketScan)
		if _, err := r.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var made []bool
		race(64, func(i int) {
			_, err := r.Decide(context.Background(), id, alice, i%2 == 0, begun.Number)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made = append(made, i%2 == 0)
			case !errors.Is(err, crossdevice.ErrDecided):
				t.Error(err)
			}
		})
		ticket, err := r.Find(t.Context(), id)
		if err != nil || len(made) != 1 || made[0] != (ticket.State == store.TicketConfirmed) {
			t.Fatalf("decided as %v, it is %s, %v", made, ticket.State, err)
		}
	}
}

func TestParallelDeliveriesAgreeOnOneTime(t *testing.T) {
	r := newRig(t)
	id, begun := r.begin(t, store.TicketScan)
	_, _ = r.Scan(t.Context(), id, alice)
	_, _ = r.Decide(t.Context(), id, alice, true, begun.Number)
	var mu sync.Mutex
	moments := make(map[time.Time]bool)
	race(64, func(int) {
		ticket, err := r.Deliver(context.Background(), id)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
		}
		moments[ticket.Delivered.UTC().Round(0)] = true
	})
	if len(moments) != 1 {
		t.Errorf("%d moments", len(moments))
	}
}

func TestFullWidthNumbersAreAccepted(t *testing.T) {
	r := newRig(t)
	id, begun := r.begin(t, store.TicketScan)
	_, _ = r.Scan(t.Context(), id, alice)
	typed := "\u3000" + string([]rune{rune(begun.Number[0]) - '0' + '\uff10', ' ', rune(begun.Number[1]) - '0' + '\uff10'})
	if ticket, err := r.Decide(t.Context(), id, alice, true, typed); err != nil || ticket.State != store.TicketConfirmed {
		t.Errorf("%q for %s: %s, %v", typed, begun.Number, ticket.State, err)
	}
}

func TestStoreFaultIsReportedAsAnError(t *testing.T) {
	r := newRig(t)
	id, begun := r.begin(t, store.TicketScan)
	r.store.Fail(errAway)
	_, _, begin := r.Begin(t.Context(), store.Ticket{Kind: store.TicketScan, Client: "shop", Poller: "p"})
	_, find := r.Find(t.Context(), id)
	_, code := r.ByUserCode(t.Context(), begun.UserCode)
	_, scan := r.Scan(t.Context(), id, alice)
	_, decide := r.Decide(t.Context(), id, alice, true, begun.Number)
	_, deliver := r.Deliver(t.Context(), id)
	_, wait := r.Wait(t.Context(), id, store.TicketPending)
	for i, err := range []error{begin, find, code, scan, decide, deliver, wait} {
		if !errors.Is(err, errAway) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

func race(n int, run func(i int)) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-begin
			run(i)
		})
	}
	close(begin)
	all.Wait()
}

var counting sync.Mutex

func count(t *testing.T, err error, none *int, other error, others *int) {
	counting.Lock()
	defer counting.Unlock()
	switch {
	case err == nil:
		*none++
	case errors.Is(err, other):
		*others++
	default:
		t.Error(err)
	}
}

// The same form once more is told what it came to, but not on the word of a record that no replica has.
func TestRepeatedDecisionIsToldOnceAReplicaHasIt(t *testing.T) {
	for _, allow := range []bool{true, false} {
		r, alone := newRig(t), errors.New("no replica")
		id, begun := r.begin(t, store.TicketScan)
		if _, err := r.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Decide(t.Context(), id, alice, allow, begun.Number); err != nil {
			t.Fatal(err)
		}
		r.store.LoseReplicas(alone)
		if _, err := r.Decide(t.Context(), id, alice, allow, begun.Number); !errors.Is(err, alone) {
			t.Errorf("without a replica: %v", err)
		}
		r.store.LoseReplicas(nil)
		if _, err := r.Decide(t.Context(), id, alice, allow, begun.Number); !errors.Is(err, crossdevice.ErrDecided) {
			t.Errorf("with one: %v", err)
		}
	}
}
