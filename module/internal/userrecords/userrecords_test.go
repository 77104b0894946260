package userrecords

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func withSessions(t *testing.T, n int) *storetest.Memory {
	t.Helper()
	m := storetest.NewMemory(nil)
	for i := range n {
		key := store.Key{Kind: store.KindSession, ID: fmt.Sprintf("s%04d", i)}
		record := store.Record{Key: key, Parent: "alice", Value: []byte("{}"), Expires: time.Now().Add(time.Hour)}
		if _, err := m.Create(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func TestWalkSkipsUnreadableRecords(t *testing.T) {
	const records = 2*pageSize + 1
	m, n := withSessions(t, records), 0
	newer := errors.New("of a newer release")
	err := Each(t.Context(), m, store.KindSession, "alice", func(r store.Record) error {
		if n++; r.ID == "s0003" {
			return Unreadable(newer)
		}
		return nil
	})
	if n != records || !errors.Is(err, newer) || !strings.Contains(err.Error(), "session") {
		t.Errorf("%d of %d records, %v", n, records, err)
	}
	n, down := 0, errors.New("the store is down")
	err = Each(t.Context(), m, store.KindSession, "alice", func(store.Record) error { n++; return down })
	if n != 1 || !errors.Is(err, down) {
		t.Errorf("another error must end the walk: %d records, %v", n, err)
	}
}

func TestUpToStopsAtTheLimitAndReportsMore(t *testing.T) {
	m := withSessions(t, pageSize+5)
	for limit, wantMore := range map[int]bool{0: true, 3: true, pageSize: true, pageSize + 4: true, pageSize + 5: false, 1000: false} {
		n := 0
		more, err := UpTo(t.Context(), m, store.KindSession, "alice", limit, func(store.Record) error { n++; return nil })
		if err != nil || more != wantMore || n != min(limit, pageSize+5) {
			t.Errorf("limit %d: %d records, more %v, %v", limit, n, more, err)
		}
	}
}
