package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

// crashEnv names a state file and the step at which the child that compacts it dies, divided by a comma.
const crashEnv = "GATEHOUSE_TEST_CRASH_IN_COMPACTION"

// crashInCompaction is the child.
func crashInCompaction() bool {
	path, step, ok := strings.Cut(os.Getenv(crashEnv), ",")
	if !ok {
		return false
	}
	b, err := Open(Options{Path: path})
	if err == nil {
		b.handle.atStep = failAt(step, func() error {
			p, _ := os.FindProcess(os.Getpid())
			_ = p.Kill()
			select {}
		})
		_, _, err = b.Compact(context.Background())
	}
	fmt.Println("it lives:", err)
	return true
}

func failAt(step string, fail func() error) func(string) error {
	return func(at string) error {
		if at != step {
			return nil
		}
		return fail()
	}
}

// halfEmpty is a file with 50 live records among 2,000 that are gone.
func halfEmpty(t *testing.T) (b *Backend, live []store.Record) {
	t.Helper()
	b = open(t, Options{})
	flood(t, b, "gone ", 2000, time.Now().Add(time.Hour))
	var done sync.WaitGroup
	for i := range 2000 {
		done.Go(func() {
			if err := b.Delete(t.Context(), record(fmt.Sprint("gone ", i+1)).Key); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	for i := range 50 {
		r := record(fmt.Sprint("live ", i))
		r.Value, r.Expires = make([]byte, 700*i), time.Now().Add(time.Duration(i)*time.Hour+time.Minute).Truncate(time.Millisecond)
		r, err := b.Create(t.Context(), r)
		must(t, err)
		live = append(live, r)
	}
	return b, live
}

// checkLive checks that exactly these records are there, with their indexes, and that they can be written.
func checkLive(t *testing.T, b *Backend, live []store.Record) {
	t.Helper()
	checkPages(t, b)
	for _, want := range live {
		got, err := b.Get(t.Context(), want.Key)
		if err != nil || got.Version != want.Version || len(got.Value) != len(want.Value) || !got.Expires.Equal(want.Expires) || got.Parent != want.Parent {
			t.Fatalf("%q: got version %d, %d bytes, %v, %v", want.Key, got.Version, len(got.Value), got.Expires, err)
		}
	}
	for _, bucket := range [][]byte{bucketRecords, bucketParents, bucketExpiry} {
		if n := keys(t, b, bucket); n != len(live) {
			t.Errorf("%s has %d keys, want %d", bucket, n, len(live))
		}
	}
	made, err := b.Swap(t.Context(), live[0])
	must(t, err)
	if made.Version <= live[len(live)-1].Version {
		t.Errorf("version %d came back", made.Version)
	}
	live[0] = made
	if _, err := os.Stat(b.handle.path + compactSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy is still there: %v", err)
	}
}

func TestCompactKeepsEverythingButTheFreeSpace(t *testing.T) {
	b, live := halfEmpty(t)
	secret, err := b.Secret(t.Context())
	must(t, err)
	must(t, os.Chmod(b.handle.path, 0o400))
	watched := make(chan []store.Record, 10)
	go func() { _ = b.Watch(t.Context(), "k", func(r []store.Record) { watched <- r }) }()
	for r := range watched {
		if r == nil {
			break
		}
	}
	before, after, err := b.Compact(t.Context())
	if err != nil || after >= before/2 {
		t.Fatalf("Compact: from %d to %d bytes, %v", before, after, err)
	}
	if m := mode(t, b.handle.path); m != 0o400 {
		t.Errorf("the file has the mode %v", m)
	}
	checkLive(t, b, live)
	r := record("watched")
	r.Expires = time.Now().Add(time.Hour).Truncate(time.Millisecond)
	r, err = b.Create(t.Context(), r)
	must(t, err)
	if got := <-watched; len(got) != 1 || got[0].ID != "watched" {
		t.Errorf("the watcher got %v", got)
	}
	if _, err := Open(Options{Path: b.handle.path}); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second opener: %v", err)
	}
	must(t, os.Chmod(b.handle.path, 0o600))
	must(t, b.Close())
	again := open(t, Options{Path: b.handle.path})
	checkLive(t, again, append(live, r))
	if got, err := again.Secret(t.Context()); err != nil || string(got) != string(secret) {
		t.Errorf("the secret is another one, %v", err)
	}
}

func TestFailedCompactionLeavesTheFileUnchanged(t *testing.T) {
	b, live := halfEmpty(t)
	broken := errors.New("broken")
	for _, step := range []string{"written", "copied", "renamed"} {
		b.handle.atStep = failAt(step, func() error { return broken })
		if _, _, err := b.Compact(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), b.handle.path) {
			t.Errorf("%s: %v", step, err)
		}
		b.handle.atStep = nil
		checkLive(t, b, live)
	}
	must(t, b.Close())
	if _, _, err := b.Compact(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("Compact after Close: %v", err)
	}
	checkLive(t, open(t, Options{Path: b.handle.path}), live)
}

func TestCrashDuringCompactionLeavesACompleteFile(t *testing.T) {
	for _, step := range []string{"written", "copied", "renamed"} {
		b, live := halfEmpty(t)
		must(t, b.Close())
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashEnv+"="+b.handle.path+","+step)
		if out, err := child.CombinedOutput(); err == nil || len(out) > 0 {
			t.Fatalf("the child did not die: %s", out)
		}
		checkLive(t, open(t, Options{Path: b.handle.path}), live)
	}
}

func TestOpenThatWaitedForTheOldFileIsRefused(t *testing.T) {
	b, live := halfEmpty(t)
	refused := make(chan error)
	go func() {
		second, err := Open(Options{Path: b.handle.path})
		if err == nil {
			_ = second.Close()
		}
		refused <- err
	}()
	time.Sleep(lockWait / 4)
	_, _, err := b.Compact(t.Context())
	must(t, err)
	if err := <-refused; err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("the second opener: %v", err)
	}
	checkLive(t, b, live)
}

func TestReadsAndWritesContinueDuringCompaction(t *testing.T) {
	b, live := halfEmpty(t)
	ctx, stop := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for i := range 8 {
		calls.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				id := fmt.Sprint("new ", i, ".", n)
				if _, err := b.Create(t.Context(), record(id)); err != nil {
					t.Error(err)
				}
				if _, err := b.Get(t.Context(), record(id).Key); err != nil {
					t.Error(err)
				}
				if err := b.Delete(t.Context(), record(id).Key); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 5 {
		_, _, err := b.Compact(t.Context())
		must(t, err)
	}
	stop()
	calls.Wait()
	checkLive(t, b, live)
}

func TestMostlyFreeFileIsCompactedAutomatically(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	b := open(t, Options{Path: path})
	kept := record("kept")
	kept.Expires = time.Now().Add(time.Hour).Truncate(time.Millisecond)
	kept, err := b.Create(t.Context(), kept)
	must(t, err)
	var done sync.WaitGroup
	for i := range 200 {
		done.Go(func() {
			r := record(fmt.Sprint("large ", i))
			r.Value = make([]byte, store.MaxValueLength)
			if _, err := b.Create(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if wasteful, err := b.handle.isWasteful(); wasteful || err != nil {
		t.Errorf("a file full of records: %t, %v", wasteful, err)
	}
	for i := range 200 {
		done.Go(func() { _ = b.Delete(t.Context(), record(fmt.Sprint("large ", i)).Key) })
	}
	done.Wait()
	if wasteful, err := b.handle.isWasteful(); !wasteful || err != nil {
		t.Errorf("a file without records: %t, %v", wasteful, err)
	}
	must(t, b.Close())
	again := open(t, Options{Path: path})
	checkLive(t, again, []store.Record{kept})
	if info, err := os.Stat(path); err != nil || info.Size() >= minCompact {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

// A file with much in use is left to the operator, whom the doctor tells.
func TestDoctorHearsOfAFreeFileThatIsNotCompacted(t *testing.T) {
	for _, c := range []struct {
		size, live int64
		told       bool
	}{
		{minCompact, 0, false},
		{4 * maxLive, maxLive, false},
		{4 * maxLive, maxLive + 1, true},
		{4 * maxLive, 2 * maxLive, true},
		{4 * maxLive, 2*maxLive + 1, false},
	} {
		if risky := examineUsage(c.size, c.live); (len(risky) == 1) != c.told {
			t.Errorf("%d of %d bytes in use: %q", c.live, c.size, risky)
		}
	}
	b := open(t, Options{})
	if wrong, risky, err := b.Examine(t.Context()); len(wrong)+len(risky) > 0 || err != nil {
		t.Errorf("an empty file: %q, %q, %v", wrong, risky, err)
	}
	must(t, b.Close())
	if _, _, err := b.Examine(t.Context()); err != nil {
		t.Error(err)
	}
}
