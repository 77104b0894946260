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

func TestUserCodeMatchesAnySpelling(t *testing.T) {
	r := newRig(t)
	id, ticket := r.begin(t, store.TicketDevice)
	code := ticket.UserCode
	wide := strings.Map(func(r rune) rune { return r - 'A' + '\uff21' }, code)
	narrow := strings.Map(func(r rune) rune { return r - 'A' + '\uff41' }, code)
	for _, typed := range []string{
		code, strings.ToLower(code), code[:4] + "-" + code[4:], " " + code[:4] + " " + code[4:] + "\t",
		strings.Join(strings.Split(code, ""), "-"), code[:4] + "\u2013" + code[4:], wide, narrow, code[:4] + "\u3000" + wide[12:],
	} {
		if found, err := r.ByUserCode(t.Context(), typed); err != nil || found != id {
			t.Errorf("%q finds %q, %v", typed, found, err)
		}
	}
	for _, typed := range []string{"", "-", code[:7], code + "B", code[:7] + "A", code[:7] + "\x00", strings.Repeat("-", 100) + code, strings.Repeat("B", 1<<20)} {
		if _, err := r.ByUserCode(t.Context(), typed); !errors.Is(err, crossdevice.ErrGone) {
			t.Errorf("%.40q: %v", typed, err)
		}
	}
}

func TestImpossibleTicketsAreGone(t *testing.T) {
	w := &watched{Memory: storetest.NewMemory(nil)}
	r := newRig(t, func(c *crossdevice.Config) { c.Store = w })
	for _, id := range []string{"", "x", strings.Repeat("A", 1<<16), "../../../x"} {
		if _, err := r.Find(t.Context(), id); !errors.Is(err, crossdevice.ErrGone) {
			t.Errorf("%.30q: %v", id, err)
		}
		if _, err := r.Scan(t.Context(), id, alice); !errors.Is(err, crossdevice.ErrGone) {
			t.Errorf("%.30q scanned: %v", id, err)
		}
		if _, err := r.Wait(t.Context(), id, store.TicketPending); !errors.Is(err, crossdevice.ErrGone) {
			t.Errorf("%.30q waited for: %v", id, err)
		}
	}
	if w.reads != 0 { // a store may refuse a key for its length, which would be a fault
		t.Errorf("it was looked up %d times", w.reads)
	}
	if _, err := r.Find(t.Context(), strings.Repeat("A", 22)); !errors.Is(err, crossdevice.ErrGone) {
		t.Error(err)
	}
}

// B25: who asks in the ten minutes after hears that it has expired, then it never was.
func TestExpiredTicketIsReportedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for kind, life := range map[store.TicketKind][2]time.Duration{
			store.TicketScan: {2 * time.Minute, 5 * time.Minute}, store.TicketDevice: {10 * time.Minute, 10 * time.Minute},
		} {
			r := newRig(t)
			id, ticket := r.begin(t, kind)
			time.Sleep(life[0] - time.Nanosecond)
			if found, err := r.Find(t.Context(), id); err != nil || found.Over(time.Now()) {
				t.Errorf("%s: over before its time: %v", kind, err)
			}
			time.Sleep(time.Nanosecond)
			if found, err := r.Find(t.Context(), id); err != nil || !found.Over(time.Now()) {
				t.Errorf("%s: not over: %v", kind, err)
			}
			if _, err := r.Scan(t.Context(), id, alice); !errors.Is(err, crossdevice.ErrExpired) {
				t.Errorf("%s: scanned: %v", kind, err)
			}
			time.Sleep(life[1] - life[0] + 10*time.Minute - time.Nanosecond)
			if _, err := r.ByUserCode(t.Context(), ticket.UserCode); err != nil {
				t.Errorf("%s: its code: %v", kind, err)
			}
			time.Sleep(time.Nanosecond)
			if _, err := r.Find(t.Context(), id); !errors.Is(err, crossdevice.ErrGone) {
				t.Errorf("%s: still there: %v", kind, err)
			}
			if n := r.store.Len(); n != 0 {
				t.Errorf("%s: %d records are left", kind, n)
			}
		}
	})
}

func TestBeginIgnoresCallerSuppliedState(t *testing.T) {
	r := newRig(t)
	_, ticket, err := r.Begin(t.Context(), store.Ticket{
		Kind: store.TicketDevice, Client: "tv", Poller: "p", State: store.TicketConfirmed, Scanner: "s", Subject: "u",
		Attempt: "a", Number: "42", UserCode: "AAAA", AuthTime: time.Now(), Delivered: time.Now(),
	})
	if err != nil || ticket.State != store.TicketPending || ticket.Scanner+ticket.Subject+ticket.Attempt+ticket.Number != "" || ticket.UserCode == "AAAA" ||
		!ticket.Delivered.IsZero() || !ticket.AuthTime.IsZero() {
		t.Errorf("%+v, %v", ticket, err)
	}
	for _, bad := range []store.Ticket{{}, {Kind: store.TicketScan, Client: "c"}, {Kind: store.TicketScan, Poller: "p"}, {Kind: "x", Client: "c", Poller: "p"}} {
		if _, _, err := r.Begin(t.Context(), bad); err == nil {
			t.Errorf("%+v was begun", bad)
		}
	}
}

func TestNumbersAndCodesAreUniform(t *testing.T) {
	r := newRig(t)
	const n = 4000
	numbers, first, codes := make(map[string]int), make(map[byte]int), make(map[string]bool)
	for range n {
		_, ticket := r.begin(t, store.TicketScan)
		numbers[ticket.Number]++
		first[ticket.UserCode[0]]++
		codes[ticket.UserCode] = true
	}
	if len(numbers) != 90 || len(first) != 20 || len(codes) != n {
		t.Errorf("%d numbers, %d letters, %d codes", len(numbers), len(first), len(codes))
	}
	for number, times := range numbers {
		if number < "10" || len(number) != 2 || times > 4*n/90 {
			t.Errorf("%s came %d times", number, times)
		}
	}
}

func TestTicketsNeedAStore(t *testing.T) {
	for _, c := range []crossdevice.Config{{}, {Store: storeOf(t), MaxWaiting: -1}, {Store: storeOf(t), Hold: -1}} {
		if _, err := crossdevice.New(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
