package crossdevice_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// rig is tickets over a store in memory.
type rig struct {
	*crossdevice.Tickets
	store *storetest.Memory
}

func newRig(t *testing.T, change ...func(*crossdevice.Config)) rig {
	t.Helper()
	m := storetest.NewMemory(nil)
	c := crossdevice.Config{Store: m}
	for _, f := range change {
		f(&c)
	}
	tickets, err := crossdevice.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tickets.Close)
	return rig{tickets, m}
}

func (r rig) begin(t *testing.T, kind store.TicketKind) (string, store.Ticket) {
	t.Helper()
	id, ticket, err := r.Begin(t.Context(), store.Ticket{Kind: kind, Client: "shop", Scopes: []string{"snsapi_login"}, Poller: "digest"})
	if err != nil {
		t.Fatal(err)
	}
	return id, ticket
}

var (
	alice = crossdevice.Person{Subject: "u1", Session: "s1", AuthTime: time.Unix(1_700_000_000, 0)}
	again = crossdevice.Person{Subject: "u1", Session: "s2"}
	bob   = crossdevice.Person{Subject: "u2", Session: "s3"}
)

func TestTicketIsScannedConfirmedAndDeliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id, begun := r.begin(t, store.TicketScan)
		if len(id) != 22 || len(begun.Number) != 2 || begun.Number < "10" || len(begun.UserCode) != 8 || begun.State != store.TicketPending {
			t.Fatalf("begun as %q %+v", id, begun)
		}
		if begun.Expires.Sub(begun.IssuedAt) != 2*time.Minute || begun.Ends.Sub(begun.IssuedAt) != 5*time.Minute {
			t.Errorf("it lives until %v and %v", begun.Expires, begun.Ends)
		}
		if found, err := r.ByUserCode(t.Context(), " "+strings.ToLower(begun.UserCode[:4]+"-"+begun.UserCode[4:])); err != nil || found != id {
			t.Errorf("the short code finds %q, %v", found, err)
		}
		if scanned, err := r.Scan(t.Context(), id, alice); err != nil || scanned.State != store.TicketScanned || scanned.Subject != "u1" {
			t.Fatalf("scanned: %+v, %v", scanned, err)
		}
		if _, err := r.Scan(t.Context(), id, alice); err != nil {
			t.Errorf("the same session again: %v", err)
		}
		for _, other := range []crossdevice.Person{again, bob} {
			if _, err := r.Scan(t.Context(), id, other); !errors.Is(err, crossdevice.ErrTaken) {
				t.Errorf("scanned by %v too: %v", other, err)
			}
			if _, err := r.Decide(t.Context(), id, other, true, begun.Number); !errors.Is(err, crossdevice.ErrTaken) {
				t.Errorf("decided by %v: %v", other, err)
			}
		}
		if _, err := r.Deliver(t.Context(), id); !errors.Is(err, crossdevice.ErrUnconfirmed) {
			t.Errorf("delivered before it is confirmed: %v", err)
		}
		if _, err := r.Decide(t.Context(), id, alice, true, begun.Number); err != nil {
			t.Fatal(err)
		}
		if denied, err := r.Decide(t.Context(), id, alice, false, ""); !errors.Is(err, crossdevice.ErrDecided) || denied.State != store.TicketConfirmed {
			t.Errorf("decided again: %v, %v", denied.State, err)
		}
		first, err := r.Deliver(t.Context(), id)
		if err != nil || first.Delivered.IsZero() {
			t.Fatalf("delivered: %+v, %v", first, err)
		}
		time.Sleep(time.Second)
		if second, err := r.Deliver(t.Context(), id); err != nil || !second.Delivered.Equal(first.Delivered) {
			t.Errorf("delivered again at %v, %v", second.Delivered, err)
		}
	})
}

func TestWaiterSeesEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		id, begun := r.begin(t, store.TicketScan)
		states := make(chan store.TicketState)
		go func() {
			last := store.TicketPending
			for last != store.TicketConfirmed {
				ticket, err := r.Wait(t.Context(), id, last)
				if err != nil {
					t.Error(err)
				}
				last = ticket.State
				states <- last
			}
		}()
		synctest.Wait()
		begin := time.Now()
		if _, err := r.Scan(t.Context(), id, alice); err != nil {
			t.Fatal(err)
		}
		if s := <-states; s != store.TicketScanned {
			t.Errorf("the waiter is told %v", s)
		}
		if _, err := r.Decide(t.Context(), id, alice, true, begun.Number); err != nil {
			t.Fatal(err)
		}
		if s := <-states; s != store.TicketConfirmed || time.Since(begin) > 0 {
			t.Errorf("the waiter is told %v after %v", s, time.Since(begin))
		}
		r.Close()
	})
}
