package soak

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/bolt"
)

// B28: one address fills neither the memory nor the store with tickets.
func TestOfTenThousandTicketsOneAddressGetsTwentyAMinute(t *testing.T) {
	collectOften(t)
	s := newSite(t)
	p := s.Run(t, s.config("$CLIENTS", portal))
	_ = s.screens(t, 0, 20) // from another address: keys are made, templates parsed
	before := s.footprint(t, p.PID())
	const n = 10_000
	var mu sync.Mutex
	statuses := make(map[int]int)
	begun := time.Now()
	atOnce(connections, func(int) {
		c, err := callFrom("127.0.0.1", s.dialled())
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.c.Close() }()
		for range n / connections {
			a, err := c.get(s.host(), qrTarget())
			if err == nil && a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "" {
				err = errors.New("429 without Retry-After")
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			statuses[a.status]++
			mu.Unlock()
		}
	})
	took := time.Since(begun)
	after := s.footprint(t, p.PID())
	minutes := 1 + int(took/time.Minute)
	if got := statuses[http.StatusOK]; got < perAddress || got > perAddress*minutes || statuses[http.StatusTooManyRequests] != n-got {
		t.Errorf("statuses %v", statuses)
	}
	if grown := after.resident - before.resident; grown > 32<<20 {
		t.Errorf("%d MiB more are resident", grown>>20)
	}
	t.Logf("%d tickets asked for by one address in %v: %v; %v before, %v after", n, took.Round(time.Millisecond), statuses, before, after)
	p.Stop()
	if kept := stored(t, filepath.Join(s.Dir, "state.db")); kept > 3*(20+perAddress*minutes)*2 {
		t.Errorf("%d entries are stored", kept)
	}
}

// What many addresses begin costs little memory, and is gone from the store when its time is
// over, without anybody's asking for it again.
func TestTicketsOfManyAddressesExpire(t *testing.T) {
	collectOften(t)
	s := newSite(t)
	p := s.Run(t, s.config("$CLIENTS", portal))
	const at = 1000 // connections at a time: the machine has no more files to give
	// As many at once as later, so that what a crowd of connections leaves is not taken for
	// the price of tickets.
	for _, b := range s.screens(t, 4000, at) {
		b.hangUp()
	}
	file := filepath.Join(s.Dir, "state.db")
	before := s.footprint(t, p.PID())
	n := times(1000, 10_000)
	begun := time.Now()
	var one *screen
	for done := 0; done < n; done += at {
		for _, b := range s.screens(t, done/perAddress, at) {
			b.hangUp()
			one = b
		}
	}
	took := time.Since(begun)
	after := s.footprint(t, p.PID())
	p.Stop()
	full := stored(t, file)
	t.Logf("%d tickets of %d addresses in %v: %v before, %v after; %d entries in a file of %d KiB",
		n, n/perAddress, took.Round(time.Millisecond), before, after, full, size(t, file)>>10)
	// A thousand tickets disappear in what a crowd of connections leaves resident.
	if each := after.above(before, n); each.heap+each.stacks > 4<<10 || inSoak() && each.resident > 8<<10 {
		t.Errorf("a ticket costs %d bytes of heap, %d of stacks, %d resident", each.heap, each.stacks, each.resident)
	}

	// Fifteen minutes after the last of them and some writes later, whatever is written: one
	// alone removes 32 and more.
	b, err := bolt.Open(bolt.Options{Path: file, Now: func() time.Time { return time.Now().Add(15*time.Minute + time.Second) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(t.Context(), store.Key{Kind: store.KindTicket, ID: one.id}); !errors.Is(err, store.ErrNotFound) {
		t.Error("a ticket after its time:", err)
	}
	writes := 2*(n+at)/32 + 20
	for i := range writes {
		k := store.Key{Kind: store.KindTurn, ID: fmt.Sprint(i)}
		if _, err := b.Create(t.Context(), store.Record{Key: k, Value: []byte("{}"), Expires: time.Now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	left := stored(t, file)
	t.Logf("after %d writes of others %d entries are left", writes, left)
	if most := 2*writes + 100; left > most {
		t.Errorf("%d entries are left of %d, at most %d may be", left, full, most)
	}
}

// stored counts what is in a state file: records, and the entries of its indexes.
func stored(t *testing.T, file string) (n int) {
	t.Helper()
	db, err := bbolt.Open(file, 0o600, &bbolt.Options{ReadOnly: true, Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			n += b.Stats().KeyN
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func size(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
