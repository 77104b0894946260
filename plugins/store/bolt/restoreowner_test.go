//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package bolt

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse/gatehouse/module/store"
)

// somebody is the user and the group that a gateway runs as in these tests.
const somebody = 31337

func ownerOf(t *testing.T, info fs.FileInfo) (uid, gid uint32) {
	t.Helper()
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		t.Fatalf("%s has no owner", info.Name())
	}
	return stat.Uid, stat.Gid
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info
}

// On a new machine, root restores the state into the folder of a gateway that runs as another user. Without root,
// everything belongs to one user here.
func TestRestoreByRootKeepsTheFolderOwner(t *testing.T) {
	file := saved(t, filled(t, Options{}, 1))
	home := t.TempDir()
	if os.Geteuid() == 0 {
		must(t, os.Chown(home, somebody, somebody))
	}
	uid, gid := ownerOf(t, stat(t, home))
	path := filepath.Join(home, "caddy", "gatehouse", "state.db")
	_, err := (&Bolt{resolved: path}).Restore(t.Context(), store.Restoration{Snapshot: file, Secret: []byte(strings.Repeat("s", 43))})
	must(t, err)
	for name, mode := range map[string]fs.FileMode{filepath.Join(home, "caddy"): 0o700, filepath.Dir(path): 0o700, path: 0o600, path + secretSuffix: 0o600} {
		info := stat(t, name)
		if u, g := ownerOf(t, info); u != uid || g != gid || info.Mode().Perm() != mode {
			t.Errorf("%s belongs to %d:%d, want %d:%d, mode %v", name, u, g, uid, gid, info.Mode())
		}
	}
}

// Others cannot give files away, and for them that is no reason to fail.
func TestOnlyRootChangesFileOwners(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "restored"))
	must(t, err)
	defer func() { _ = file.Close() }()
	other := stat(t, "/") // is root's
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		must(t, os.Chown(dir, somebody, somebody))
		other = stat(t, dir)
	}
	uid, gid := ownerOf(t, stat(t, file.Name()))
	must(t, giveTo(file, other, somebody))
	if u, g := ownerOf(t, stat(t, file.Name())); u != uid || g != gid {
		t.Errorf("the file belongs to %d:%d", u, g)
	}
}

func TestRestoreBelowAFileIsRefused(t *testing.T) {
	file := saved(t, filled(t, Options{}, 1))
	if _, err := (&Bolt{resolved: filepath.Join(file, "state.db")}).Restore(t.Context(), store.Restoration{Snapshot: file}); err == nil {
		t.Error("a file is taken for a folder")
	}
}
