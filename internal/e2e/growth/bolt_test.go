package growth

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/plugins/store/bolt"
)

// What a write costs after a surge of records that have expired since.
func TestBoltFileSizeAfterASurge(t *testing.T) {
	for _, n := range sizes(5000, 100_000, 300_000) {
		path := filepath.Join(t.TempDir(), "state.db")
		b, err := bolt.Open(bolt.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		before := writeTime(t, b)
		surge(t, b, n, time.Now().Add(time.Duration(n/2000)*time.Second+5*time.Second))
		full := fileSize(t, path)
		during := writeTime(t, b)
		await(t, func() bool { return live(t, b) == 0 })
		sweep(t, b, n)
		swept := writeTime(t, b)
		if full >= 64<<20 { // most of it is free now, and it is compacted within a minute
			await(t, func() bool { return fileSize(t, path) < full/2 })
		}
		t.Logf("| %7d records expired | %v a write before, %v with them, %v when they were removed, %v in the end; the file has %d MiB, then %d MiB |",
			n, before, during, swept, writeTime(t, b), full>>20, fileSize(t, path)>>20)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

const surgeParent = "surge"

func surge(t *testing.T, b store.Backend, n int, expires time.Time) {
	t.Helper()
	var wg sync.WaitGroup
	const writers = 64
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n; i += writers {
				_, err := b.Create(t.Context(), store.Record{
					Key: store.Key{Kind: store.KindGrant, ID: fmt.Sprintf("surge-%x-%d", i*2654435761, i)}, Parent: surgeParent,
					Value: make([]byte, 600), Expires: expires,
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// sweep writes until n expired records are removed: each write removes some.
func sweep(t *testing.T, b store.Backend, n int) {
	t.Helper()
	var wg sync.WaitGroup
	const writers = 64
	for w := range writers {
		wg.Go(func() {
			r, err := b.Create(t.Context(), store.Record{Key: store.Key{Kind: store.KindGrant, ID: fmt.Sprint("sweeper ", w)}, Value: make([]byte, 600)})
			for range n / writers {
				if err != nil {
					t.Error(err)
					return
				}
				r, err = b.Swap(t.Context(), r)
			}
		})
	}
	wg.Wait()
}

// live is 0 when none of the surge's records can be read any more.
func live(t *testing.T, b store.Backend) int {
	t.Helper()
	found, err := b.List(t.Context(), store.KindGrant, surgeParent, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// writeTime is what one of 300 writes takes, one after the other.
func writeTime(t *testing.T, b store.Backend) time.Duration {
	t.Helper()
	begun := time.Now()
	const writes = 300
	for i := range writes {
		_, err := b.Create(context.Background(), store.Record{
			Key: store.Key{Kind: store.KindGrant, ID: fmt.Sprint("w", begun.UnixNano(), "-", i)}, Value: make([]byte, 600), Expires: time.Now().Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return (time.Since(begun) / writes).Round(time.Microsecond)
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited for ten minutes")
		}
	}
}
