package redis

import (
	"slices"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/store"
)

// B31, on every kind of Redis: what is decided at one node ends the wait at another.
func TestDecisionReachesAnotherNodeWithinASecond(t *testing.T) {
	for name, url := range map[string]string{
		"one server": redistest.Shared(t).URL(), "a cluster": redistest.SharedCluster(t).URL(),
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, url)
			o.Settings.Timeout = 2 * time.Second // a machine full of tests is slow
			nodes := make([]*gatewaytest.Tickets, 3)
			for i := range nodes {
				var err error
				if nodes[i], err = gatewaytest.NewTickets(open(t, o)); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(nodes[i].Close)
			}
			by := gatewaytest.Person{Subject: "u", Session: "s", AuthTime: time.Now()}
			var took []time.Duration
			for i := range 20 {
				polled, phone := nodes[i%3], nodes[(i+1)%3]
				id, ticket, err := nodes[(i+2)%3].Begin(t.Context(), store.Ticket{Kind: store.TicketScan, Client: "c", Poller: "p"})
				if err != nil {
					t.Fatal(err)
				}
				last := store.TicketPending
				for _, move := range []func() (store.Ticket, error){
					func() (store.Ticket, error) { return phone.Scan(t.Context(), id, by) },
					func() (store.Ticket, error) { return phone.Decide(t.Context(), id, by, true, ticket.Number) },
				} {
					heard := make(chan time.Time, 1)
					go func() {
						if seen, err := polled.Wait(t.Context(), id, last); err != nil || seen.State == last {
							t.Errorf("the wait came to %s, %v", seen.State, err)
						}
						heard <- time.Now()
					}()
					time.Sleep(20 * time.Millisecond) // so that it waits
					moved, err := move()
					if err != nil {
						t.Fatal(err)
					}
					done := time.Now()
					took = append(took, (<-heard).Sub(done))
					last = moved.State
				}
			}
			slices.Sort(took)
			t.Logf("heard after: median %v, at most %v", took[len(took)/2], took[len(took)-1])
			if most := took[len(took)-1]; most > time.Second {
				t.Errorf("heard after %v", most)
			}
		})
	}
}
