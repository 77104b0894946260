package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// Open gives an empty store of its own to one case of the suite. The store reads this clock for every expiry and need
// not be closed: the case does that. Open fails the test itself when it cannot.
type Open = func(t *testing.T, now func() time.Time) store.Backend

// patience bounds whatever should happen soon. Only a broken store waits it out.
const patience = 20 * time.Second

// testCase is one sentence of the contract.
type testCase struct {
	name string
	run  func(s *stage)
}

// Run holds the stores that open gives to every promise of store.Backend.
func Run(t *testing.T, open Open) {
	for _, group := range []struct {
		name  string
		cases []testCase
	}{
		{"create", createCases},
		{"swap", swapCases},
		{"delete", deleteCases},
		{"expiry", expiryCases},
		{"list", listCases},
		{"keys and values", keyCases},
		{"watch", watchCases},
		{"context", contextCases},
		{"close", closeCases},
		{"secret", secretCases},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) { c.run(newStage(t, open)) })
			}
		})
	}
}

// stage is a test with a store and the clock that store reads.
type stage struct {
	*testing.T
	store.Backend
	ctx   context.Context
	clock *clock
}

func newStage(t *testing.T, open Open) *stage {
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	t.Cleanup(cancel)
	c := &clock{now: time.Now().Round(0)}
	b := open(t, c.Now)
	t.Cleanup(func() { _ = b.Close() })
	return &stage{T: t, Backend: b, ctx: ctx, clock: c}
}

// newRecord is a record that does not expire.
func newRecord(kind store.Kind, id, parent, value string) store.Record {
	return store.Record{Key: store.Key{Kind: kind, ID: id}, Parent: parent, Value: []byte(value)}
}

// must returns the record of a call that has to succeed.
func (s *stage) must(r store.Record, err error) store.Record {
	s.Helper()
	if err != nil {
		s.Fatalf("a call that must succeed: %v", err)
	}
	return r
}

func (s *stage) mustCreate(r store.Record) store.Record {
	s.Helper()
	return s.must(s.Create(s.ctx, r))
}

func (s *stage) mustSwap(r store.Record) store.Record {
	s.Helper()
	return s.must(s.Swap(s.ctx, r))
}

func (s *stage) mustGet(key store.Key) store.Record {
	s.Helper()
	return s.must(s.Get(s.ctx, key))
}

func (s *stage) mustDelete(key store.Key) {
	s.Helper()
	s.must(store.Record{}, s.Delete(s.ctx, key))
}

// wantError returns a check that a call failed with this error.
func (s *stage) wantError(want error) func(store.Record, error) {
	return func(_ store.Record, err error) {
		s.Helper()
		if !errors.Is(err, want) {
			s.Fatalf("got %v, want the error %q", err, want)
		}
	}
}

// listIDs lists and returns the IDs only.
func (s *stage) listIDs(kind store.Kind, parent, after string, limit int) []string {
	s.Helper()
	records, err := s.List(s.ctx, kind, parent, after, limit)
	if err != nil {
		s.Fatalf("List(%q, %q): %v", kind, parent, err)
	}
	found := make([]string, 0, len(records))
	for _, r := range records {
		if r.Kind != kind || r.Parent != parent {
			s.Fatalf("List(%q, %q) gave a record of %q and %q", kind, parent, r.Kind, r.Parent)
		}
		found = append(found, r.ID)
	}
	return found
}

// listOne returns the only record of a parent.
func (s *stage) listOne(kind store.Kind, parent string) store.Record {
	s.Helper()
	found, err := s.List(s.ctx, kind, parent, "", 10)
	if err != nil || len(found) != 1 {
		s.Fatalf("List = %d records, %v", len(found), err)
	}
	return found[0]
}

// wantSame compares what a caller sees of a record.
func (s *stage) wantSame(got, want store.Record) {
	s.Helper()
	if got.Key != want.Key || got.Parent != want.Parent || string(got.Value) != string(want.Value) {
		s.Fatalf("got %q %q %.40q, want %q %q %.40q", got.Key, got.Parent, got.Value, want.Key, want.Parent, want.Value)
	}
	if got.Version == 0 || want.Version != 0 && got.Version != want.Version {
		s.Fatalf("%q has version %d, want %d", got.Key, got.Version, want.Version)
	}
	s.sameExpiry(got.Expires, want.Expires)
}

// sameExpiry allows for rounding up to the millisecond.
func (s *stage) sameExpiry(got, want time.Time) {
	s.Helper()
	if got.IsZero() != want.IsZero() || got.Before(want) || got.Sub(want) > time.Millisecond {
		s.Fatalf("expires at %v, want %v, at most a millisecond later", got, want)
	}
}

// clock begins with the real time and stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
