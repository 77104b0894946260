package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

// walked is a store in memory whose records are known.
type walked struct {
	store.Backend
	keys []store.Key
}

func (w *walked) Create(ctx context.Context, r store.Record) (store.Record, error) {
	w.keys = append(w.keys, r.Key)
	return w.Backend.Create(ctx, r)
}

func (w *walked) Walk(ctx context.Context, visit func([]store.Record) error) error {
	for _, k := range w.keys {
		r, err := w.Get(ctx, k)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil {
			err = visit([]store.Record{r})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var own = []byte(strings.Repeat("the secret of the store ", 2))

// used returns a store with signing keys and a record of every kind that has none of its own.
func used(t *testing.T, kinds ...store.Kind) *walked {
	t.Helper()
	w := &walked{Backend: storetest.NewMemory(nil)}
	revoked, err := revocationlist.New(revocationlist.Config{Store: w, MaxTokenLife: func() time.Duration { return time.Hour }})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.New(keyring.Config{Store: w, Revocations: revoked, Keys: func(context.Context) (*secret.Keys, error) { return secret.NewKeys(own) }})
	if err == nil {
		_, err = ring.Signer(t.Context(), "ES256")
	}
	for _, k := range kinds {
		if err == nil {
			_, err = w.Create(t.Context(), store.Record{Key: store.Key{Kind: k, ID: "a"}, Value: []byte("{}")})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestRecordsAreCountedAndTheirSecretChecked(t *testing.T) {
	seen := int64(0)
	c, err := Inspect(t.Context(), used(t, store.KindUser, store.KindSession), func(n int64) { seen += n })
	if err != nil || c.Records != 3 || c.Kinds[store.KindUser] != 1 || c.Kinds[store.KindKeyRing] != 1 || seen != 3 {
		t.Errorf("%+v, %v, %d", c, err, seen)
	}
	other := []byte(strings.Repeat("another", 6))
	if err := c.CheckSecrets(own); err != nil {
		t.Error(err)
	}
	if err := c.CheckSecrets(other, own); err != nil {
		t.Error(err)
	}
	if err := c.CheckSecrets(other); !errors.Is(err, ErrOtherSecret) {
		t.Errorf("another secret: %v", err)
	}
	if err := c.CheckSecrets([]byte("short")); err == nil {
		t.Error("a short secret is accepted")
	}
	if err := new(Contents).CheckSecrets(other); err != nil {
		t.Errorf("a store that was never used: %v", err)
	}
}

func TestDamagedKeyRingIsNotReportedAsWrongSecret(t *testing.T) {
	w := &walked{Backend: storetest.NewMemory(nil)}
	if _, err := w.Create(t.Context(), store.Record{Key: store.Key{Kind: store.KindKeyRing, ID: "signing"}, Value: []byte("{")}); err != nil {
		t.Fatal(err)
	}
	c, err := Inspect(t.Context(), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.CheckSecrets(own); err == nil || errors.Is(err, ErrOtherSecret) {
		t.Errorf("%v", err)
	}
}

func TestEndSessionsRemovesOnlySignIns(t *testing.T) {
	stays := []store.Kind{store.KindUser, store.KindUsername, store.KindClient, store.KindRevocation, store.KindEnding, store.KindPairwise, store.KindVanished}
	w := used(t, slices.Concat(stays, slices.DeleteFunc(ending(), func(k store.Kind) bool { return k == store.KindKeyRing }))...)
	ended, err := EndSessions(t.Context(), w)
	if err != nil || ended != len(ending()) {
		t.Errorf("%d, %v, want %d", ended, err, len(ending()))
	}
	c, err := Inspect(t.Context(), w, nil)
	if err != nil || c.Records != len(stays) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, k := range stays {
		if c.Kinds[k] != 1 {
			t.Errorf("%s is gone", k)
		}
	}
}

func TestBackupFileIsNamedOnlyWhenComplete(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if err := checkAbsent(path); err != nil {
		t.Errorf("before it is complete: %v", err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 4 {
		t.Errorf("%v, %v", info, err)
	}
	below := filepath.Join(dir, "no folder", "b")
	if _, err := Create(below); err == nil || !strings.Contains(err.Error(), " "+below+": ") {
		t.Errorf("in a folder that is none: %v", err)
	}
	if _, err := Create(path); err == nil || !strings.Contains(err.Error(), "is not overwritten") {
		t.Errorf("a file that exists: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestExistingBackupFileIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(); err == nil || !strings.Contains(err.Error(), path+" exists and is not overwritten") {
		t.Errorf("the other file: %v", err)
	}
	f.Discard()
	if b, _ := os.ReadFile(path); string(b) != "first" {
		t.Errorf("%q", b)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(dir, "link")); err == nil {
		t.Error("a symbolic link is replaced")
	}
}

// What has the name when the file is to get it may be gone at the next look. The file must not pass for one that was kept.
func TestUnnamedBackupFileIsNotReportedAsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	f.link = func(string, string) error { return fs.ErrExist }
	if err := errors.Join(f.Sync(), f.Keep()); err == nil || !strings.Contains(err.Error(), path+" exists and is not overwritten: name another file, or remove it") {
		t.Errorf("%v", err)
	}
}
