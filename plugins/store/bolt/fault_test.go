package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/gatehouse/gatehouse/module/store"
)

// technical fails unless err is a fault, and no answer a caller could take for one
// about the record.
func technical(t *testing.T, err error) {
	t.Helper()
	if err == nil || store.IsAnswer(err) {
		t.Errorf("%v, want a technical error", err)
	}
}

func TestFullDiskIsAnErrorUntilThereIsRoom(t *testing.T) {
	b := open(t, Options{})
	made, err := b.Create(t.Context(), record("before"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(b.handle.path)
	if err != nil {
		t.Fatal(err)
	}
	limit := func(size int) {
		b.handle.mu.Lock()
		defer b.handle.mu.Unlock()
		b.handle.db.MaxSize = size
	}
	limit(int(info.Size()))
	big := record("big")
	big.Value = make([]byte, store.MaxValueLength)
	for i := range 5 {
		big.ID = fmt.Sprint("big ", i)
		_, err = b.Create(t.Context(), big)
		technical(t, err)
		if !errors.Is(err, bolterrors.ErrMaxSizeReached) {
			t.Errorf("Create: %v", err)
		}
	}
	if got, err := b.Get(t.Context(), made.Key); err != nil || got.Version != made.Version {
		t.Errorf("reading on a full disk: %v", err)
	}
	limit(0)
	if _, err := b.Create(t.Context(), big); err != nil {
		t.Errorf("Create after the disk has room: %v", err)
	}
	checkPages(t, b)
}

func TestTruncatedStateFileIsAnErrorNotACrash(t *testing.T) {
	b := open(t, Options{})
	var writing sync.WaitGroup
	for i := range 200 {
		writing.Go(func() {
			if _, err := b.Create(t.Context(), record(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	writing.Wait()
	if err := os.Truncate(b.handle.path, 2*int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	_, err := b.Get(t.Context(), store.Key{Kind: "k", ID: "7"})
	technical(t, err)
	for range 3 {
		_, err = b.Create(t.Context(), record("after"))
		technical(t, err)
	}
	if err := b.Close(); err != nil {
		t.Log("Close:", err)
	}
}

func TestDatabasePanicIsFixedByReopening(t *testing.T) {
	b := open(t, Options{})
	made, err := b.Create(t.Context(), record("before"))
	if err != nil {
		t.Fatal(err)
	}
	err = b.handle.updateTx(func(*bbolt.Tx) error { panic("as bbolt does") })
	technical(t, err)
	if got, err := b.Get(t.Context(), made.Key); err != nil || got.Version != made.Version {
		t.Errorf("Get: %v", err)
	}
	if _, err := b.Create(t.Context(), record("after")); err != nil {
		t.Errorf("Create: %v", err)
	}
}

func TestLockLeftByAPanicIsReleased(t *testing.T) {
	b := open(t, Options{})
	release := hold(t, b) // as a panic inside a rollback leaves it
	b.handle.mu.RLock()
	db := b.handle.db
	b.handle.mu.RUnlock()
	begin := time.Now()
	b.handle.dropDB(db, errors.New("stuck"))
	if _, err := b.Create(t.Context(), record("after")); err != nil {
		t.Errorf("Create: %v", err)
	}
	if took := time.Since(begin); took > 3*closeWait {
		t.Errorf("it took %v", took)
	}
	release()
}

func TestRepeatedlyFailingFileIsAbandoned(t *testing.T) {
	b := open(t, Options{})
	b.handle.left = maxAbandoned
	err := b.handle.updateTx(func(*bbolt.Tx) error { panic("as bbolt does") })
	technical(t, err)
	_, err = b.Create(t.Context(), record("after"))
	technical(t, err)
	if _, err := b.Get(t.Context(), record("after").Key); err == nil || !strings.Contains(err.Error(), "again and again") {
		t.Errorf("Get: %v", err)
	}
}

func TestErrorsNameTheFileOnce(t *testing.T) {
	b := open(t, Options{})
	b.handle.dropDB(b.handle.db, errors.New("fault"))
	other := open(t, Options{Path: b.handle.path})
	_, err := b.Get(t.Context(), record("a").Key)
	technical(t, err)
	if err != nil && (strings.Count(err.Error(), "store bolt") != 1 || strings.Count(err.Error(), b.handle.path) != 1) {
		t.Errorf("Get: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(2 * retryWait); err != nil && !store.IsAnswer(err) && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		_, err = b.Get(t.Context(), record("a").Key)
	}
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("reading does not heal: %v", err)
	}
}

func TestBatchFaultFailsAllItsOperations(t *testing.T) {
	b := open(t, Options{})
	if _, err := b.Create(t.Context(), record("damaged")); err != nil {
		t.Fatal(err)
	}
	err := b.handle.updateTx(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketRecords).Put(recordKey(record("damaged").Key), []byte("short"))
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Get(t.Context(), record("damaged").Key)
	technical(t, err)
	_, err = b.Create(t.Context(), record("damaged"))
	technical(t, err)
	if _, err := b.Create(t.Context(), record("whole")); err != nil {
		t.Errorf("Create of another record: %v", err)
	}
}

func TestCloseEndsWaitingWrites(t *testing.T) {
	b := open(t, Options{})
	release := hold(t, b)
	errs := make(chan error, 8)
	for i := range cap(errs) {
		go func() {
			_, err := b.Create(context.Background(), record(fmt.Sprint(i)))
			errs <- err
		}()
	}
	for until := time.Now().Add(10 * time.Second); len(b.queue) == 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	closed := make(chan error, 1)
	go func() { closed <- b.Close() }()
	<-b.closing
	release()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	for range cap(errs) {
		if err := <-errs; err != nil && !errors.Is(err, errClosed) {
			t.Errorf("Create: %v", err)
		}
	}
}

// A file that is replaced while it is open, by a backup for example, is not that of a running gateway.
func TestReplacedFileIsReported(t *testing.T) {
	b := open(t, Options{})
	if _, _, err := b.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	wrong, _, err := b.Examine(t.Context())
	if bad := b.Health(); bad != nil || err != nil || len(wrong) > 0 {
		t.Fatal(bad, err, wrong)
	}
	path := b.handle.path
	for _, change := range []func() error{
		func() error { return os.Rename(path, path+".aside") },
		func() error { return os.WriteFile(path, []byte("a backup"), 0o600) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		wrong, _, err := b.Examine(t.Context())
		if bad := b.Health(); !errors.Is(bad, errReplaced) || err != nil || len(wrong) != 1 {
			t.Error(bad, err, wrong)
		}
	}
}

// N12
func TestDamageFoundByACallIsRemembered(t *testing.T) {
	b := open(t, Options{})
	if _, err := b.Create(t.Context(), record("damaged")); err != nil {
		t.Fatal(err)
	}
	if err := b.Health(); err != nil {
		t.Errorf("of a whole file: %v", err)
	}
	err := b.handle.updateTx(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketRecords).Put(recordKey(record("damaged").Key), []byte("short"))
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Get(t.Context(), record("damaged").Key)
	technical(t, err)
	if got := b.Health(); !errors.Is(got, errDamaged) {
		t.Errorf("Health: %v", got)
	}
	b.damage.seen = time.Now().Add(-damageLife - time.Second)
	if err := b.Health(); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

// N12: a file that vanishes while it is in use is not replaced by an empty one.
func TestDeletedStateFileIsNotRecreated(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed":  os.Remove,
		"emptied":  func(path string) error { return os.Truncate(path, 0) },
		"replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, Options{})
			if _, err := b.Create(t.Context(), record("before")); err != nil {
				t.Fatal(err)
			}
			if err := lose(b.handle.path); err != nil {
				t.Fatal(err)
			}
			b.handle.dropDB(b.handle.db, errors.New("fault"))
			_, err := b.Get(t.Context(), record("before").Key)
			technical(t, err)
			if err == nil || !strings.Contains(err.Error(), "restore both files") {
				t.Errorf("Get: %v", err)
			}
			if info, err := os.Stat(b.handle.path); err == nil && info.Size() > 0 {
				t.Errorf("there is a new file of %d bytes", info.Size())
			}
		})
	}
}

// N12: while the file loses its content, reads that begin are refused, and none waits for a
// lock that another left behind.
func TestReadsFailWhenTheFileLosesItsContent(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"overwritten": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteAt(make([]byte, 64<<10), 0)
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, Options{})
			made, err := b.Create(t.Context(), record("before"))
			if err != nil {
				t.Fatal(err)
			}
			if err := lose(b.handle.path); err != nil {
				t.Fatal(err)
			}
			answers := make(chan error)
			for range 50 {
				go func() {
					_, err := b.Get(context.Background(), made.Key)
					answers <- err
				}()
			}
			late := time.After(20 * time.Second)
			for range 50 {
				select {
				case err := <-answers:
					technical(t, err)
				case <-late:
					t.Fatal("reads wait for ever")
				}
			}
			if _, err := b.Create(t.Context(), record("after")); store.IsAnswer(err) {
				t.Errorf("Create: %v", err)
			}
			if err := b.Close(); err != nil {
				t.Log("Close:", err)
			}
		})
	}
}

// N17: one record that cannot be read, such as after a fault of the disk, stands in nobody else's
// way: neither when it has expired and is to be removed, nor in the batch of who writes to it.
func TestDamagedRecordDoesNotBlockOthers(t *testing.T) {
	var now atomic.Pointer[time.Time]
	begin := time.Now()
	now.Store(&begin)
	b := open(t, Options{GroupCommit: 300 * time.Millisecond, Now: func() time.Time { return *now.Load() }})
	damaged := record("damaged")
	damaged.Expires, damaged.Parent = begin.Add(time.Minute), "parent"
	if _, err := b.Create(t.Context(), damaged); err != nil {
		t.Fatal(err)
	}
	err := b.handle.updateTx(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketRecords).Put(recordKey(damaged.Key), []byte("short"))
	})
	if err != nil {
		t.Fatal(err)
	}
	errs := map[string]chan error{"damaged": make(chan error, 1), "whole": make(chan error, 1)}
	for name, to := range errs { // in one batch, as it waits for more
		go func() {
			_, err := b.Create(context.Background(), record(name))
			to <- err
		}()
	}
	if err := <-errs["whole"]; err != nil {
		t.Errorf("N17 beside the damaged record: %v", err)
	}
	technical(t, <-errs["damaged"])
	later := begin.Add(time.Hour)
	now.Store(&later)
	b.damage.seen = time.Time{}
	for _, name := range []string{"after", "and again"} {
		if _, err := b.Create(t.Context(), record(name)); err != nil {
			t.Errorf("N17 when the damaged record has expired: %v", err)
		}
	}
	if err := b.Health(); !errors.Is(err, errDamaged) {
		t.Errorf("N17 Health: %v", err)
	}
	if _, err := b.Get(t.Context(), damaged.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("N17 the damaged record: %v", err)
	}
	if list, err := b.List(t.Context(), damaged.Kind, damaged.Parent, "", 10); len(list) != 0 || err != nil {
		t.Errorf("N17 what it stood among: %v, %v", list, err)
	}
}
