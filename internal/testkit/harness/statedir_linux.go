package harness

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inMemory is the prefix of directories in memory.
const inMemory = "/dev/shm/gatehouse-test-"

// stateDir creates a directory for the test, in memory if a gigabyte is free there. A gateway syncs its state at every
// sign-in, which occasionally takes seconds on a disk that other tests keep busy. The long form of the suites uses the
// disk.
func stateDir(t testing.TB) string {
	t.Helper()
	var fs unix.Statfs_t
	if os.Getenv("GATEHOUSE_SOAK") != "" || unix.Statfs(filepath.Dir(inMemory), &fs) != nil || fs.Bavail*uint64(fs.Bsize) < 1<<30 {
		return t.TempDir()
	}
	sweepOnce()
	dir, err := os.MkdirTemp(filepath.Split(inMemory + "*"))
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// sweepOnce removes the directories of interrupted runs: those older than an hour, since no run takes that long.
var sweepOnce = sync.OnceFunc(func() {
	left, _ := filepath.Glob(inMemory + "*")
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
})
