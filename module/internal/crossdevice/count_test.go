package crossdevice_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/store"
)

func TestTicketOutcomesAreCountedOnce(t *testing.T) {
	var told []string
	r := newRig(t, func(c *crossdevice.Config) {
		c.Count = func(kind store.TicketKind, outcome string) { told = append(told, string(kind)+" "+outcome) }
	})
	scan := func(kind store.TicketKind) (string, store.Ticket) {
		id, begun := r.begin(t, kind)
		for range 2 {
			if _, err := r.Scan(t.Context(), id, alice); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = r.Scan(t.Context(), id, bob)
		return id, begun
	}
	id, begun := scan(store.TicketScan)
	for range 2 {
		_, _ = r.Decide(t.Context(), id, alice, true, begun.Number)
		_, _ = r.Deliver(t.Context(), id)
	}
	id, _ = scan(store.TicketScan)
	_, _ = r.Decide(t.Context(), id, alice, true, "0")
	id, _ = scan(store.TicketDevice)
	_, _ = r.Decide(t.Context(), id, bob, true, "")
	_, _ = r.Decide(t.Context(), id, alice, false, "")
	want := []string{
		"scan begun", "scan scanned", "scan confirmed",
		"scan begun", "scan scanned", "scan wrong_number",
		"device begun", "device scanned", "device denied",
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q\nwant %q", told, want)
	}
	for _, word := range want {
		if _, outcome, _ := strings.Cut(word, " "); !slices.Contains([]string{crossdevice.CountBegun, crossdevice.CountScanned, crossdevice.CountConfirmed, crossdevice.CountDenied, crossdevice.CountWrongNumber}, outcome) {
			t.Errorf("%s is not listed", outcome)
		}
	}
}

func TestWaitersAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		one, _ := r.begin(t, store.TicketScan)
		two, _ := r.begin(t, store.TicketScan)
		first, second := r.wait(t.Context(), one, store.TicketPending), r.wait(t.Context(), two, store.TicketPending)
		synctest.Wait()
		if n := r.Waiting(); n != 2 {
			t.Errorf("%d wait, want 2", n)
		}
		r.Close()
		<-first
		<-second
		if n := r.Waiting(); n != 0 {
			t.Errorf("%d wait after all have gone", n)
		}
	})
}
