package bolt

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

// keys counts what lies in a bucket, live or not.
func keys(t *testing.T, b *Backend, bucket []byte) int {
	t.Helper()
	n := 0
	err := b.handle.viewTx(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(_, _ []byte) error { n++; return nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// flood creates n records that expire in a minute.
func flood(t *testing.T, b *Backend, name string, n int, now time.Time) {
	t.Helper()
	var next atomic.Int64
	var done sync.WaitGroup
	for range 128 {
		done.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				r := record(fmt.Sprint(name, i))
				r.Value = make([]byte, 500)
				r.Expires = now.Add(time.Minute)
				if _, err := b.Create(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
}

func TestExpiredRecordsAreRemovedAndTheFileStaysSmall(t *testing.T) {
	var now atomic.Pointer[time.Time]
	begin := time.Now()
	now.Store(&begin)
	b := open(t, Options{Now: func() time.Time { return *now.Load() }})
	var first int64
	for round := range 5 {
		flood(t, b, fmt.Sprint(round, "."), 2000, *now.Load())
		later := now.Load().Add(time.Hour)
		now.Store(&later)
		info, err := os.Stat(b.handle.path)
		if err != nil {
			t.Fatal(err)
		}
		if round == 1 {
			first = info.Size()
		}
		if round > 1 && info.Size() > 2*first {
			t.Errorf("round %d: the file grew from %d to %d bytes", round, first, info.Size())
		}
	}
	if got := keys(t, b, bucketRecords); got > 2500 {
		t.Errorf("%d records are left, want hardly more than the last round's", got)
	}
	writes := 0
	for ; keys(t, b, bucketRecords) > 1; writes++ {
		if writes == 2000/sweepBase+10 {
			t.Fatalf("%d records are left after %d single writes", keys(t, b, bucketRecords), writes)
		}
		r := record("live")
		if err := b.Delete(t.Context(), r.Key); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if p, e := keys(t, b, bucketParents), keys(t, b, bucketExpiry); p != 1 || e != 0 {
		t.Errorf("%d parents and %d expiries are left behind", p, e)
	}
	checkPages(t, b)
}

func TestIndexesFollowEveryChange(t *testing.T) {
	b := open(t, Options{})
	count := func(step string, records, parents, expiries int) {
		t.Helper()
		if r, p, e := keys(t, b, bucketRecords), keys(t, b, bucketParents), keys(t, b, bucketExpiry); r != records || p != parents || e != expiries {
			t.Errorf("%s: %d records, %d parents, %d expiries, want %d, %d, %d", step, r, p, e, records, parents, expiries)
		}
	}
	must := func(r store.Record, err error) store.Record {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := record("a")
	r.Expires = time.Now().Add(time.Hour)
	r = must(b.Create(t.Context(), r))
	count("created", 1, 1, 1)
	r = must(b.Swap(t.Context(), r))
	count("swapped with the same expiry", 1, 1, 1)
	r.Expires = r.Expires.Add(time.Hour)
	r = must(b.Swap(t.Context(), r))
	count("prolonged", 1, 1, 1)
	r.Expires = time.Time{}
	r = must(b.Swap(t.Context(), r))
	count("without expiry", 1, 1, 0)
	r.Expires = time.Now().Add(time.Hour)
	r = must(b.Swap(t.Context(), r))
	count("with expiry again", 1, 1, 1)
	if err := b.Delete(t.Context(), r.Key); err != nil {
		t.Fatal(err)
	}
	count("deleted", 0, 0, 0)
}
