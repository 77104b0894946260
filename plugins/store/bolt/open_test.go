package bolt

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse/gatehouse/module/store"
)

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestNewFilesAreReadableByTheOwnerOnly(t *testing.T) { // O06
	path := filepath.Join(t.TempDir(), "made", "below", "state.db")
	b := open(t, Options{Path: path})
	if _, err := b.Secret(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, path + ".secret": 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		if got := mode(t, name); got != want {
			t.Errorf("%s has the mode %o, want %o", name, got, want)
		}
	}
}

func TestWorldReadableFilesAreClosedWithAWarning(t *testing.T) { // O06
	path := filepath.Join(t.TempDir(), "state.db")
	first := open(t, Options{Path: path})
	want, err := first.Secret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".secret"} {
		if err := os.Chmod(name, 0o664); err != nil { //nolint:gosec // what is tested
			t.Fatal(err)
		}
	}
	core, logs := observer.New(zap.WarnLevel)
	b := open(t, Options{Path: path, Logger: zap.New(core)})
	if got, err := b.Secret(t.Context()); err != nil || string(got) != string(want) {
		t.Fatalf("the secret changed, or %v", err)
	}
	if mode(t, path) != 0o600 || mode(t, path+".secret") != 0o600 || logs.Len() != 2 {
		t.Errorf("modes %o and %o, %d warnings, want 600, 600 and 2", mode(t, path), mode(t, path+".secret"), logs.Len())
	}
}

func TestSecondOpenFailsAtOnce(t *testing.T) {
	b := open(t, Options{})
	begin := time.Now()
	_, err := Open(Options{Path: b.handle.path})
	if err == nil || !strings.Contains(err.Error(), b.handle.path+" is in use by another process") || strings.Count(err.Error(), "store bolt") != 1 {
		t.Errorf("Open: %v", err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Path: b.handle.path})
}

func TestSecondProcessFailsToOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	child := startWriter(t, path)
	if !child.out.Scan() || child.out.Text() != "open" {
		t.Fatalf("the child said %q", child.out.Text())
	}
	begin := time.Now()
	_, err := Open(Options{Path: path})
	took := time.Since(begin)
	child.kill(nil)
	if err == nil || !strings.Contains(err.Error(), path+" is in use by another process") || took > 2*time.Second {
		t.Errorf("Open: %v after %v", err, took)
	}
}

func TestNonStateFilesAreRefusedUnchanged(t *testing.T) {
	foreign := func(change func(tx *bbolt.Tx) error) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := bbolt.Open(path, 0o600, nil)
			if err == nil {
				err = db.Update(change)
			}
			if err == nil {
				err = db.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"text": {func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(strings.Repeat("no database\n", 2000)), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "no state file, or is damaged"},
		"another program's bbolt file": {foreign(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("theirs"))
			return err
		}), "not made by gatehouse"},
		"a newer schema": {foreign(func(tx *bbolt.Tx) error {
			meta, err := tx.CreateBucket(bucketMeta)
			if err != nil {
				return err
			}
			return meta.Put(keySchema, binary.BigEndian.AppendUint64(nil, schema+1))
		}), "schema 2, this release reads up to 1"},
		"a directory": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "is not a file"},
		"a link to nothing": {func(t *testing.T, path string) {
			if err := os.Symlink(path+".elsewhere", path); err != nil {
				t.Fatal(err)
			}
		}, "symbolic link to nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			c.make(t, path)
			for range 2 { // the first refusal must have given the lock back
				_, err := Open(Options{Path: path})
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
					t.Fatalf("Open: %v, want %q and the path", err, c.want)
				}
			}
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []Options{{}, {Path: filepath.Join(t.TempDir(), "x"), GroupCommit: -1}, {Path: filepath.Join(t.TempDir(), "x"), GroupCommit: time.Minute}} {
		if _, err := Open(o); err == nil {
			t.Errorf("Open(%+v) gave no error", o)
		}
	}
}

func TestRecordsSurviveReopening(t *testing.T) {
	b := open(t, Options{})
	made, err := b.Create(t.Context(), store.Record{Key: store.Key{Kind: "k", ID: "a"}, Parent: "p", Value: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, Options{Path: b.handle.path})
	made.Value = []byte("y")
	if made, err = again.Swap(t.Context(), made); err != nil {
		t.Fatal("the version must be the same after reopening:", err)
	}
	if found, err := again.List(t.Context(), "k", "p", "", 9); err != nil || len(found) != 1 || found[0].Version != made.Version {
		t.Fatalf("List = %v, %v", found, err)
	}
}

// N12: what is left of a state is not taken for no state.
func TestStateThatLostItsContentIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		lose      func(t *testing.T, path string)
		want      string // of the error; "": it opens
		withoutIt bool   // without the secret beside it
		warned    bool
	}{
		"empty": {lose: truncate(0), want: "is empty, though its secret beside it (state.db.secret)"},
		"empty, and no secret, as after a crash at the first start": {lose: truncate(0), withoutIt: true, warned: true},
		"cut to its first pages":                                    {lose: truncate(16 << 10), want: "is damaged: "},
		"cut in the first page":                                     {lose: truncate(100), want: "damaged"},
		"cut in its last page":                                      {lose: truncateLastPage, want: "is cut short"},
		"gone, with the secret restored":                            {lose: func(t *testing.T, path string) { must(t, os.Remove(path)) }, warned: true},
	} {
		t.Run("N12 "+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.db")
			b := open(t, Options{Path: path})
			if _, err := b.Secret(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := range 8 { // more than the pages of a new file
				r := record(strings.Repeat("x", i+1))
				r.Value = make([]byte, 8<<10)
				if _, err := b.Create(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			must(t, b.Close())
			c.lose(t, path)
			if c.withoutIt {
				must(t, os.Remove(path+".secret"))
			}
			core, logs := observer.New(zap.WarnLevel)
			got, err := Open(Options{Path: path, Logger: zap.New(core)})
			if err == nil {
				defer func() { must(t, got.Close()) }()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path)) {
				t.Errorf("Open: %v, want %q", err, c.want)
			}
			if (logs.Len() == 1) != c.warned {
				t.Errorf("%d warnings: %v", logs.Len(), logs.All())
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func truncate(size int64) func(*testing.T, string) {
	return func(t *testing.T, path string) { t.Helper(); must(t, os.Truncate(path, size)) }
}

// truncateLastPage takes the end off the last page in use: the file itself may be longer.
func truncateLastPage(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	var used int64
	must(t, db.View(func(tx *bbolt.Tx) error { used = tx.Size(); return nil }))
	must(t, db.Close())
	must(t, os.Truncate(path, used-1))
}
