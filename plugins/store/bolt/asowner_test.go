//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package bolt

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/store"
)

// etc is a folder that only root may write to, which everybody can enter.
func etc(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // as /etc
	return dir
}

// isUntouched checks that nothing has come into a folder. Without root, whoever runs this may write there anyway.
func isUntouched(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	all, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range all {
		t.Errorf("root has made %s", f.Name())
	}
}

func linkAs(t *testing.T, target, link string) {
	t.Helper()
	must(t, os.Symlink(target, link))
	if os.Geteuid() == 0 {
		must(t, os.Lchown(link, somebody, somebody))
	}
}

// The user of the gateway owns the folder above that of the state, and has put a link there before.
func TestRestoreByRootFollowsNoLinkOfTheOwner(t *testing.T) {
	snapshot := saved(t, filled(t, Options{}, 1))
	home, victim := homeOfSomebody(t), etc(t)
	linkAs(t, victim, filepath.Join(home, "gatehouse"))
	for _, way := range []string{filepath.Join(home, "gatehouse"), filepath.Join(etc(t), "ours")} {
		if filepath.Base(way) == "ours" { // root's own link leads there
			must(t, os.Symlink(filepath.Join("..", "..", filepath.Base(filepath.Dir(home)), filepath.Base(home), "gatehouse"), way))
		}
		path := filepath.Join(way, "state.db")
		resolved, err := resolvePath(path)
		must(t, err)
		if resolved != filepath.Join(victim, "state.db") {
			t.Fatalf("it leads to %s", resolved)
		}
		_, err = (&Bolt{named: path, resolved: resolved}).Restore(t.Context(), store.Restoration{Snapshot: snapshot, Secret: []byte(strings.Repeat("s", 43))})
		if os.Geteuid() == 0 && err == nil {
			t.Error("restored there")
		}
		isUntouched(t, victim)
		if os.Geteuid() != os.Getuid() {
			t.Fatalf("it goes on as %d", os.Geteuid())
		}
	}
}

// The same, while the state is restored.
func TestRestoreByRootFollowsNoFolderThatIsReplaced(t *testing.T) {
	snapshot := saved(t, filled(t, Options{}, 1))
	home, victim := homeOfSomebody(t), etc(t)
	folder := filepath.Join(home, "gatehouse")
	swap := func(context.Context, store.Backend) error {
		must(t, os.Rename(folder, folder+".away"))
		return os.Symlink(victim, folder)
	}
	path := filepath.Join(folder, "state.db")
	_, err := (&Bolt{named: path, resolved: path}).Restore(t.Context(), store.Restoration{Snapshot: snapshot, Secret: []byte(strings.Repeat("s", 43)), Prepare: swap})
	if err == nil {
		t.Error("restored there")
	}
	isUntouched(t, victim)
}

// An operator's command must not change the mode of root's files, nor write to them.
func TestStoppedStateIsOpenedAsItsOwner(t *testing.T) {
	home, victim := homeOfSomebody(t), filepath.Join(etc(t), "passwd")
	must(t, os.WriteFile(victim, []byte(strings.Repeat("r", 43)), 0o644)) //nolint:gosec // as /etc/passwd
	path := filepath.Join(home, "state.db")
	linkAs(t, victim, path+secretSuffix)
	b, err := (&Bolt{named: path, resolved: path}).OpenStopped(t.Context())
	must(t, err)
	_, err = b.(*Backend).Secret(t.Context())
	must(t, b.Close())
	if os.Geteuid() != 0 {
		return
	}
	if mode := stat(t, victim).Mode().Perm(); err == nil || mode != 0o644 {
		t.Errorf("the file of root has mode %v now: %v", mode, err)
	}
	if uid, _ := ownerOf(t, stat(t, path)); uid != somebody {
		t.Errorf("the state belongs to %d", uid)
	}
	if _, err := os.ReadDir("/root"); err != nil {
		t.Errorf("it does not go on as root: %v", err)
	}
}
