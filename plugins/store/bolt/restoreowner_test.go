//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package bolt

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// homeOfSomebody is a folder that root's gateway has for its own user. Without root, everything belongs to one user here.
func homeOfSomebody(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if os.Geteuid() == 0 {
		must(t, os.Chmod(filepath.Dir(home), 0o755)) //nolint:gosec // that user passes through it
		must(t, os.Chown(home, somebody, somebody))
	}
	return home
}

// On a new machine, root restores the state into the folder of a gateway that runs as another user.
func TestRestoreByRootKeepsTheFolderOwner(t *testing.T) {
	file := saved(t, filled(t, Options{}, 1))
	home := homeOfSomebody(t)
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

// The user whom the folder belongs to must not get files of others from a restore by root: it gives away what it has made,
// and nothing that has got the name since.
func TestRestoreByRootGivesAwayNoFileOfOthers(t *testing.T) {
	file := saved(t, filled(t, Options{}, 1))
	home, victim := homeOfSomebody(t), filepath.Join(t.TempDir(), "shadow")
	must(t, os.WriteFile(victim, []byte("of root"), 0o640))
	uid, gid := ownerOf(t, stat(t, victim))
	path := filepath.Join(home, "state.db")
	swap := func(context.Context, store.Backend) error {
		must(t, os.Remove(path+restoreSuffix))
		return os.Symlink(victim, path+restoreSuffix)
	}
	_, _ = (&Bolt{resolved: path}).Restore(t.Context(), store.Restoration{Snapshot: file, Prepare: swap})
	info := stat(t, victim)
	if u, g := ownerOf(t, info); u != uid || g != gid || info.Mode().Perm() != 0o640 {
		t.Errorf("the file of root belongs to %d:%d, mode %v", u, g, info.Mode())
	}
}

// As above, while the secret is replaced.
func TestRestoredSecretGivesAwayNoFileOfOthers(t *testing.T) {
	home, victim := homeOfSomebody(t), filepath.Join(t.TempDir(), "shadow")
	must(t, os.WriteFile(victim, []byte("of root"), 0o640))
	uid, gid := ownerOf(t, stat(t, victim))
	path := filepath.Join(home, "state.db.secret")
	stop := make(chan struct{})
	var attacker sync.WaitGroup
	attacker.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && os.Rename(path, path+".stolen") == nil {
				_ = os.Symlink(victim, path)
			}
		}
	})
	for i := range 200 {
		done := new(store.Restored)
		_ = replaceSecret(path, fmt.Sprintf(".before-%d", i), stat(t, home), []byte(fmt.Sprintf("%043d", i)), done)
	}
	close(stop)
	attacker.Wait()
	if u, g := ownerOf(t, stat(t, victim)); u != uid || g != gid {
		t.Errorf("the file of root belongs to %d:%d", u, g)
	}
}

// A file that is not the one that was made is not opened, much less prepared.
func TestStateIsNotOpenedThroughLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "empty"), filepath.Join(dir, "link")
	must(t, os.WriteFile(target, nil, 0o640))
	must(t, os.Symlink(target, link))
	if b, err := openResolved(link, Options{}); err == nil {
		_ = b.Close()
		t.Error("a symbolic link is followed")
	} else if !strings.Contains(err.Error(), "has become a symbolic link") {
		t.Errorf("the error says %q", err)
	}
	if info := stat(t, target); info.Size() != 0 || info.Mode().Perm() != 0o640 {
		t.Errorf("the target has %d bytes, mode %v", info.Size(), info.Mode())
	}
	var file *os.File
	if _, err := bboltOptions(&file).OpenFile(link, os.O_RDWR, 0o600); err == nil {
		t.Error("a symbolic link is followed after it was looked at")
	}
}
