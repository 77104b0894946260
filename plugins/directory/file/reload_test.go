package file

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse/gatehouse/module/directory/directorytest"
)

// opened is a directory whose file is looked at when the test says so.
type opened struct {
	*dir
	t    *testing.T
	path string
	logs *observer.ObservedLogs
}

func openSeeds(t *testing.T, seeds ...directorytest.Seed) *opened {
	t.Helper()
	return openLimited(t, defaultMaxSize, seeds...)
}

func openLimited(t *testing.T, maxSize int64, seeds ...directorytest.Seed) *opened {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	o := &opened{t: t, path: written(t, document(t, seeds...)), logs: logs}
	c, err := loadFile(o.path, maxSize, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	o.dir = &dir{current: c}
	return o
}

func (o *opened) knows(id string) bool {
	o.t.Helper()
	_, ok, err := o.Lookup(o.t.Context(), id)
	if err != nil {
		o.t.Fatal(err)
	}
	return ok
}

// rename puts a file of this text in the path's place at once.
func (o *opened) rename(text string) {
	o.t.Helper()
	next := filepath.Join(filepath.Dir(o.path), "users.json.new")
	write(o.t, next, text)
	if err := os.Rename(next, o.path); err != nil {
		o.t.Fatal(err)
	}
}

func (o *opened) logged(level zapcore.Level) int {
	return o.logs.Filter(func(e observer.LoggedEntry) bool { return e.Level == level }).Len()
}

func TestChangedFileIsReloadedWithinASecond(t *testing.T) {
	for name, change := range map[string]func(o *opened, text string){
		"written over": func(o *opened, text string) { write(o.t, o.path, text) },
		"renamed over": (*opened).rename,
	} {
		t.Run(name, func(t *testing.T) {
			o := openSeeds(t, seed("1", "ann", "secret 1"))
			o.dir = openDirectory(o.current)
			defer o.Close()
			change(o, document(t, seed("2", "bob", "secret 2")))
			begun := time.Now()
			for o.knows("1") && time.Since(begun) < 20*time.Second {
				time.Sleep(time.Millisecond)
			}
			if took := time.Since(begun); o.knows("1") || !o.knows("2") || took > 5*time.Second { // a second on an idle machine
				t.Errorf("the change was not seen after %v", took)
			}
			if _, ok, err := o.Authenticate(t.Context(), "bob", "secret 2"); !ok || err != nil {
				t.Errorf("Authenticate = %t, %v", ok, err)
			}
		})
	}
}

func TestClosedDirectoryStopsWatching(t *testing.T) {
	o := openSeeds(t, seed("1", "ann", "secret 1"))
	o.dir = openDirectory(o.current)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	o.rename(document(t, seed("2", "bob", "secret 2")))
	time.Sleep(3 * interval)
	if !o.knows("1") || o.knows("2") {
		t.Error("the file was read again")
	}
}

func TestSameSizeChangeWithinOneMtimeTickIsDetected(t *testing.T) {
	o := openSeeds(t, seed("1", "ann", "secret 1"))
	info, err := os.Stat(o.path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(document(t, seed("1", "ann", "secret 1")), `"id": "1"`, `"id": "2"`, 1)
	write(t, o.path, text)
	if err := os.Chtimes(o.path, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	o.checkFile()
	if !o.knows("2") {
		t.Error("the change went unseen")
	}
}

// settle lets the file be as old as one that no write follows within a tick of its clock, and returns what says whether
// it has been read since.
func (o *opened) settle() (wasRead func() bool) {
	o.t.Helper()
	o.checkFile()
	o.settled = true
	o.sum = [sha256.Size]byte{}
	return func() bool { return o.sum != [sha256.Size]byte{} }
}

func TestUnchangedOldFileIsNotReadAgain(t *testing.T) {
	o := openSeeds(t, seed("1", "ann", "secret 1"))
	wasRead := o.settle()
	for range 3 {
		o.checkFile()
	}
	if n := o.logs.Len(); n != 0 || wasRead() {
		t.Errorf("read again, %d log lines for a file that did not change", n)
	}
}

func TestFileIsSettledOnceItsMtimeMustChange(t *testing.T) {
	o := openSeeds(t, seed("1", "ann", "secret 1"))
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(o.path, old, old); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(o.path)
	if err != nil {
		t.Fatal(err)
	}
	changed, ok := changeTime(info)
	if !ok || time.Since(changed).Abs() > time.Minute {
		t.Fatalf("changed at %v, %t", changed, ok)
	}
	for after, want := range map[time.Duration]bool{0: false, settling: false, settling + 1: true, time.Hour: true} {
		if got := isSettled(info, changed.Add(after)); got != want {
			t.Errorf("%v after the change: settled %t", after, got)
		}
	}
	if isSettled(info, info.ModTime().Add(settling)) {
		t.Error("settled right after it was modified")
	}
}

// What cp -p does, and tools that give all files one time.
func TestRewriteWithSameSizeAndMtimeIsDetected(t *testing.T) {
	ann := seed("1", "ann", "secret 1")
	o := openSeeds(t, ann)
	normal := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(o.path, normal, normal); err != nil {
		t.Fatal(err)
	}
	wasRead := o.settle()
	before := o.info
	for now := before; ; { // until a tick of the file's clock has passed
		write(t, o.path, strings.Replace(document(t, ann), `"id": "1"`, `"id": "2"`, 1))
		if err := os.Chtimes(o.path, normal, normal); err != nil {
			t.Fatal(err)
		}
		var err error
		if now, err = os.Stat(o.path); err != nil {
			t.Fatal(err)
		}
		if now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) || !os.SameFile(now, before) {
			t.Fatal("the rewrite shows in the size, the time or the inode")
		}
		first, _ := changeTime(before)
		if changed, _ := changeTime(now); !changed.Equal(first) {
			break
		}
	}
	o.checkFile()
	if !wasRead() || !o.knows("2") || o.knows("1") {
		t.Error("the change went unseen")
	}
}

// noSystem is a file whose system says nothing but what is in fs.FileInfo.
type noSystem struct{ fs.FileInfo }

func (noSystem) Sys() any { return nil }

func TestFileWithoutChangeTimeIsRereadPeriodically(t *testing.T) {
	o := openSeeds(t, seed("1", "ann", "secret 1"))
	if _, ok := changeTime(noSystem{o.info}); ok {
		t.Error("there is a change time")
	}
	for after, due := range map[time.Duration]bool{0: false, rereading - 1: false, rereading: true, -rereading: true} {
		if isReadingDue(false, o.readAt, o.readAt.Add(after)) != due || isReadingDue(true, o.readAt, o.readAt.Add(after)) {
			t.Errorf("%v after it was read: due %t without a change time, false with it", after, due)
		}
	}
}

func TestBadReloadKeepsOldUsersAndLogsOnce(t *testing.T) {
	good := document(t, seed("1", "ann", "secret 1"))
	other := document(t, seed("2", "bob", "secret 2"))
	o := openSeeds(t, seed("1", "ann", "secret 1"))
	for i, bad := range []string{"", other[:len(other)/2], `{"users": [{"id": "3"}]}`, strings.Replace(other, "argon2id", "argon2d", 1)} {
		write(t, o.path, bad)
		for range 5 {
			o.checkFile()
			if !o.knows("1") || o.knows("2") {
				t.Fatalf("bad content %d is in use", i)
			}
		}
		if n := o.logged(zapcore.ErrorLevel); n != i+1 {
			t.Errorf("%d errors in the log after %d bad changes", n, i+1)
		}
	}
	for _, e := range o.logs.All() {
		if text, _ := e.ContextMap()["error"].(string); !strings.Contains(text, o.path) || strings.Contains(text, "$") && !strings.Contains(text, "=...") {
			t.Errorf("logged %q, want the file and no hash", text)
		}
	}
	write(t, o.path, other)
	o.checkFile()
	if o.knows("1") || !o.knows("2") {
		t.Error("the mended file is not in use")
	}
	write(t, o.path, good)
	o.checkFile()
	if !o.knows("1") {
		t.Error("the file's first content is not in use again")
	}
}

func TestMissingUsersFileKeepsOldUsers(t *testing.T) {
	o := openSeeds(t, seed("1", "ann", "secret 1"))
	aside := o.path + ".aside"
	for round := 1; round <= 2; round++ {
		if err := os.Rename(o.path, aside); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			o.checkFile()
			if !o.knows("1") {
				t.Fatal("the users are gone with the file")
			}
		}
		if n := o.logged(zapcore.ErrorLevel); n != round {
			t.Errorf("%d errors in the log after the file went %d times", n, round)
		}
		if err := os.Rename(aside, o.path); err != nil {
			t.Fatal(err)
		}
		o.checkFile()
	}
	o.rename(document(t, seed("2", "bob", "secret 2")))
	o.checkFile()
	if !o.knows("2") {
		t.Error("a change after the absence went unseen")
	}
}

func TestUserLockAppliesToSignInAndLookup(t *testing.T) {
	ann := seed("1", "ann", "secret 1")
	o := openSeeds(t, ann)
	ann.Locked = true
	o.rename(document(t, ann))
	o.checkFile()
	if _, ok, err := o.Authenticate(t.Context(), "ann", "secret 1"); ok || err != nil {
		t.Errorf("Authenticate = %t, %v", ok, err)
	}
	if u, ok, err := o.Lookup(t.Context(), "1"); !u.Locked || !ok || err != nil {
		t.Errorf("Lookup = %+v, %t, %v", u, ok, err)
	}
}

func TestParallelRequestsReadAChangingFile(t *testing.T) {
	o := openSeeds(t, seed("1", "ann", "secret 1"))
	texts := []string{document(t, seed("1", "ann", "secret 1")), document(t, seed("1", "ann", "secret 1"), seed("2", "bob", "secret 2"))}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 200 {
				if !o.knows("1") {
					t.Error("a user who is in every version of the file was not found")
				}
			}
		})
	}
	for i := range 40 {
		o.rename(texts[i%2])
		o.checkFile()
	}
	group.Wait()
}

// A file above max_size is never read: the old users go on, and the log says why once.
func TestOversizedUsersFileKeepsOldUsers(t *testing.T) {
	maxSize := int64(len(document(t, seed("1", "ann", "secret 1"))))
	o := openLimited(t, maxSize, seed("1", "ann", "secret 1")) // of exactly that size
	if o.Fault() != nil {
		t.Error(o.Fault())
	}
	for round, times := range []int64{2, 10} {
		o.rename(strings.Replace(document(t, seed("2", "bob", "secret 2")), "\n", strings.Repeat(" ", int(times*maxSize)), 1))
		for range 5 {
			o.checkFile()
			if !o.knows("1") || o.knows("2") {
				t.Fatalf("%d times the size: the old users are gone", times)
			}
		}
		if n := o.logged(zapcore.ErrorLevel); n != 1 {
			t.Errorf("%d errors in the log at %d times the size, round %d", n, times, round)
		}
		if err := o.Fault(); err == nil || !strings.Contains(err.Error(), "max_size") || !strings.Contains(err.Error(), "`users store`, `caddy gatehouse user import`") {
			t.Errorf("%d times the size: the fault is %v", times, err)
		}
		if used, most, ok := o.Size(); !ok || used < times*maxSize || most != maxSize {
			t.Errorf("%d times the size: %d of %d bytes, %t", times, used, most, ok)
		}
		if _, err := loadFile(o.path, maxSize, zap.L()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("larger than max_size, %d bytes", maxSize)) {
			t.Errorf("loading a file of %d times the size: %v", times, err)
		}
		if used := testing.AllocsPerRun(1, func() { _, _ = readContents(o.path, maxSize) }); used > 50 {
			t.Errorf("%v allocations for a file that is too large", used)
		}
	}
	o.rename(document(t, seed("1", "ann", "secret 3")))
	o.checkFile()
	if _, ok, _ := o.Authenticate(t.Context(), "ann", "secret 3"); !ok || o.Fault() != nil {
		t.Errorf("a file that fits again is not in use: %v", o.Fault())
	}
}

func TestSizeIsFormattedAsInTheCaddyfile(t *testing.T) {
	for bytes, want := range map[int64]string{32 << 20: "32MiB", 2 << 30: "2GiB", 512 << 10: "512KiB", 1000: "1000 bytes"} {
		if got := formatSize(bytes); got != want {
			t.Errorf("%d is written %s, want %s", bytes, got, want)
		}
	}
}

func TestHashesWithOtherParametersAreReported(t *testing.T) {
	o := openSeeds(t, seed("1", "ann", "secret 1"), seed("2", "bob", "secret 2"))
	text := document(t, seed("1", "ann", "secret 1"), seed("2", "bob", "secret 2"))
	o.rename(strings.Replace(text, "t=2", "t=3", 1))
	o.checkFile()
	if n := o.logged(zapcore.WarnLevel); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}
