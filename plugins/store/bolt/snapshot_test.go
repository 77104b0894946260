package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

// filled returns a store with so many live records and one that has expired.
func filled(t *testing.T, o Options, records int) *Backend {
	t.Helper()
	b := open(t, o)
	for n := range records {
		r := record(fmt.Sprintf("%06d", n))
		if n%2 == 1 {
			r.Parent, r.Expires = "", time.Now().Add(time.Hour)
		}
		if _, err := b.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	gone := record("gone")
	gone.Expires = time.Now().Add(-time.Hour)
	if _, err := b.Create(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	return b
}

func count(t *testing.T, w store.Walker) (n int) {
	t.Helper()
	err := w.Walk(t.Context(), func(page []store.Record) error {
		n += len(page)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// saved writes a snapshot into a file.
func saved(t *testing.T, b *Backend) string {
	t.Helper()
	s, err := b.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(s)
	if err = errors.Join(err, s.Close()); err != nil || int64(len(content)) != s.Size {
		t.Fatalf("%d bytes of %d, %v", len(content), s.Size, err)
	}
	file := filepath.Join(t.TempDir(), "snapshot")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSnapshotIsConsistent(t *testing.T) {
	b := filled(t, Options{}, 5)
	s, err := b.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Create(t.Context(), record("later")); err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(s)
	if err = errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.handle.path + snapshotSuffix); err == nil {
		t.Error("a copy is left beside the state file")
	}
	file := filepath.Join(t.TempDir(), "snapshot")
	if err := os.WriteFile(file, content, 0o400); err != nil {
		t.Fatal(err)
	}
	opened, err := new(Bolt).OpenSnapshot(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	if n := count(t, opened); n != 5 {
		t.Errorf("%d records, want 5", n)
	}
	if n := count(t, b); n != 6 {
		t.Errorf("%d records in the store, want 6", n)
	}
}

// A reader of a snapshot that stands still must keep neither writers nor the next compaction waiting.
func TestSlowSnapshotReaderBlocksNothing(t *testing.T) {
	b := filled(t, Options{}, 5)
	s, err := b.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, _, err := b.Compact(t.Context()); err != nil {
		t.Errorf("compacting: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if _, err := io.Copy(io.Discard, s); err != nil {
		t.Errorf("reading on: %v", err)
	}
	if _, err := b.Snapshot(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("of a closed store: %v", err)
	}
}

func TestOnlyOneCopyAtATime(t *testing.T) {
	b := filled(t, Options{}, 1)
	b.handle.copying.Lock()
	if _, err := b.Snapshot(t.Context()); !errors.Is(err, store.ErrBusy) {
		t.Errorf("a snapshot: %v", err)
	}
	if _, _, err := b.Compact(t.Context()); !errors.Is(err, store.ErrBusy) {
		t.Errorf("a compaction: %v", err)
	}
	b.handle.copying.Unlock()
	if _, _, err := b.Compact(t.Context()); err != nil {
		t.Error(err)
	}
	if err := b.Health(); err != nil {
		t.Errorf("the store is taken for damaged: %v", err)
	}
}

// full is a disk on which there is room for some bytes.
type full struct{ room int }

var errFull = errors.New("the disk is full")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// Callers tell a full disk from other faults. bbolt forgets the error of its first two writes, each of a page.
func TestCopyKeepsItsWriteError(t *testing.T) {
	b := filled(t, Options{}, 1)
	for pages := range 3 {
		if _, err := b.copyState(&full{room: pages * os.Getpagesize()}); !errors.Is(err, errFull) {
			t.Errorf("after %d pages: %v", pages, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	w := &untilClosed{to: io.Discard, closing: b.closing}
	if _, err := w.Write([]byte("x")); !errors.Is(err, errClosed) || !errors.Is(w.err, errClosed) {
		t.Errorf("of a closed store: %v, %v", err, w.err)
	}
}

// An operator may give backups names that begin with that of the state file.
func TestBackupNextToStateIsNotMistakenForATempFile(t *testing.T) {
	b := filled(t, Options{}, 2)
	path, snapshot := b.handle.path, saved(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{".snapshot", ".restore", ".backup", ".copy", ".tmp"} {
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{".snapshot", ".restore", ".backup", ".copy", ".tmp"} {
		if _, err := (&Bolt{resolved: path}).Restore(t.Context(), store.Restoration{Snapshot: path + suffix}); err != nil {
			t.Errorf("%s: %v", suffix, err)
		}
		b := open(t, Options{Path: path})
		_ = saved(t, b)
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if after, err := os.ReadFile(path + suffix); err != nil || !bytes.Equal(after, content) {
			t.Errorf("%s: %d bytes, %v", suffix, len(after), err)
		}
	}
}

func TestWalkVisitsEveryRecordOnce(t *testing.T) {
	b := filled(t, Options{}, 0)
	err := b.handle.updateTx(func(tx *bbolt.Tx) error {
		batch := newBatch(tx, time.Now().UnixMilli())
		for n := range 2*pageRecords + 1 {
			if _, err := batch.createRecord(record(fmt.Sprintf("%06d", n))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[store.Key]bool)
	err = b.Walk(t.Context(), func(page []store.Record) error {
		if len(page) > pageRecords {
			t.Errorf("a page of %d", len(page))
		}
		for _, r := range page {
			if seen[r.Key] {
				t.Errorf("%s comes twice", r.ID)
			}
			seen[r.Key] = true
		}
		return nil
	})
	if err != nil || len(seen) != 2*pageRecords+1 {
		t.Errorf("%d records, %v", len(seen), err)
	}
	stop := errors.New("stop")
	if err := b.Walk(t.Context(), func([]store.Record) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

func TestSnapshotWithADamagedIndexIsRefused(t *testing.T) {
	for _, bucket := range [][]byte{bucketParents, bucketExpiry} {
		file := saved(t, filled(t, Options{}, 4))
		db, err := bbolt.Open(file, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			c := tx.Bucket(bucket).Cursor()
			k, _ := c.Last()
			return tx.Bucket(bucket).Delete(k)
		})
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := new(Bolt).OpenSnapshot(file); err == nil || !strings.Contains(err.Error(), "missing in an index") {
			t.Errorf("%s: %v", bucket, err)
		}
	}
}

func TestOpenStateIsNeitherReadNorReplaced(t *testing.T) {
	b := filled(t, Options{}, 1)
	file := saved(t, b)
	if _, err := new(Bolt).OpenSnapshot(b.handle.path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("reading: %v", err)
	}
	to := &Bolt{resolved: b.handle.path}
	if _, err := to.Restore(t.Context(), store.Restoration{Snapshot: file}); !errors.Is(err, errInUse) {
		t.Errorf("replacing: %v", err)
	}
	if _, err := b.Create(t.Context(), record("on")); err != nil {
		t.Error(err)
	}
}

func TestFailedRestoreLeavesTheStateUnchanged(t *testing.T) {
	b := filled(t, Options{}, 3)
	file, path := saved(t, b), b.handle.path
	if _, err := b.Create(t.Context(), record("later")); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	to, no := &Bolt{resolved: path}, errors.New("no")
	refuse := func(context.Context, store.Backend) error { return no }
	if _, err := to.Restore(t.Context(), store.Restoration{Snapshot: file, Prepare: refuse}); !errors.Is(err, no) {
		t.Errorf("%v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := to.Restore(over, store.Restoration{Snapshot: file}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if n := count(t, open(t, Options{Path: path})); n != 4 {
		t.Errorf("%d records, want 4", n)
	}
}

func TestRestoreKeepsTheOldState(t *testing.T) {
	b := filled(t, Options{}, 3)
	file, path := saved(t, b), b.handle.path
	if _, err := b.Create(t.Context(), record("later")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Secret(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	other := []byte(strings.Repeat("s", 43))
	copied := int64(0)
	done, err := (&Bolt{resolved: path}).Restore(t.Context(), store.Restoration{Snapshot: file, Secret: other, Progress: func(n int64) { copied += n }})
	if err != nil || len(done.Aside) != 2 || copied == 0 {
		t.Fatalf("%+v, %v, %d bytes", done, err, copied)
	}
	restored := open(t, Options{Path: path})
	if n := count(t, restored); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
	if got, err := restored.Secret(t.Context()); err != nil || string(got) != string(other) {
		t.Errorf("the secret: %q, %v", got, err)
	}
	for _, name := range done.Aside {
		if !strings.HasPrefix(name, path) {
			t.Errorf("%s", name)
		}
		if strings.Contains(name, secretSuffix) {
			continue
		}
		if n := count(t, open(t, Options{Path: name})); n != 4 {
			t.Errorf("%s has %d records, want 4", name, n)
		}
	}
}
