//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package asowner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// somebody is a user other than root.
const somebody = 31337

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What only root can change is root's business.
func TestRootStaysRootInItsOwnFolders(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Symlink(dir, filepath.Join(dir, "link")))
	for _, path := range []string{filepath.Join(dir, "state.db"), filepath.Join(dir, "link", "state.db"), filepath.Join(dir, "none", "state.db")} {
		back, err := Act(path)
		must(t, err)
		if os.Geteuid() != os.Getuid() {
			t.Errorf("%s: acts as %d", path, os.Geteuid())
		}
		must(t, back())
	}
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	if _, err := findOwner(filepath.Join(dir, "loop")); err == nil && os.Getuid() == 0 || err != nil && !strings.Contains(err.Error(), "too many symbolic links") {
		t.Errorf("a loop: %v", err)
	}
}

// The first owner on the way counts, however many links of root lead there.
func TestActsAsTheFirstOwnerOnTheWay(t *testing.T) {
	if os.Geteuid() != 0 {
		back, err := Act(filepath.Join(t.TempDir(), "state.db"))
		must(t, err)
		must(t, back())
		return
	}
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) //nolint:gosec // that user passes through it
	must(t, os.Mkdir(filepath.Join(dir, "roots"), 0o755))
	must(t, os.Mkdir(filepath.Join(dir, "theirs"), 0o700))
	must(t, os.Chown(filepath.Join(dir, "theirs"), somebody, somebody))
	must(t, os.Symlink("../roots", filepath.Join(dir, "theirs", "link")))
	must(t, os.Symlink(filepath.Join("..", "theirs", ".", "link"), filepath.Join(dir, "roots", "first")))
	must(t, os.Symlink(filepath.Join(dir, "roots", "first"), filepath.Join(dir, "second")))
	back, err := Act(filepath.Join(dir, "second", "state.db"))
	must(t, err)
	if os.Geteuid() != somebody || os.Getegid() != somebody {
		t.Errorf("it acts as %d:%d", os.Geteuid(), os.Getegid())
	}
	if _, err := os.ReadDir("/root"); err == nil {
		t.Error("it can read what is root's")
	}
	must(t, back())
	if os.Geteuid() != 0 || os.Getegid() != 0 {
		t.Errorf("it goes on as %d:%d", os.Geteuid(), os.Getegid())
	}
	if _, err := os.ReadDir("/root"); err != nil {
		t.Error(err)
	}
	must(t, os.Chmod(filepath.Dir(dir), 0o700)) //nolint:gosec // a folder
	if _, err := Act(filepath.Join(dir, "theirs", "state.db")); err == nil || !strings.Contains(err.Error(), "root acts as user 31337 here") || os.Geteuid() != 0 {
		t.Errorf("a folder that its owner cannot reach: %v, as %d", err, os.Geteuid())
	}
}
