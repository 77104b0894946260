package harness

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inMemory begins the names of directories in memory.
const inMemory = "/dev/shm/gatehouse-test-"

// stateDir returns a directory of the test's own, in memory if a gigabyte of it is free: a
// gateway syncs its state with every sign-in, and a disk that other tests keep busy takes
// seconds for that now and then. The long form of the suites uses the disk.
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

// sweepOnce removes the directories that interrupted runs left behind. No run takes an hour.
var sweepOnce = sync.OnceFunc(func() {
	left, _ := filepath.Glob(inMemory + "*")
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
})
