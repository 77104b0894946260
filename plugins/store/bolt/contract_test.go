package bolt

import (
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/store/storetest"
)

func TestMain(m *testing.M) {
	if writeUntilKilled() || crashInCompaction() {
		return
	}
	// The test of a file cut short leaves, as intended, a database that bbolt can
	// no longer close.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/gatehouse/gatehouse/plugins/store/bolt.(*handle).closeLocked.func1"))
}

func TestBoltFileMeetsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Backend {
		return open(t, Options{Now: now})
	})
}

func TestBoltFileWithGroupCommitMeetsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) store.Backend {
		return open(t, Options{Now: now, GroupCommit: 2 * time.Millisecond})
	})
}

// open opens a new file, or the one at Options.Path.
func open(t testing.TB, o Options) *Backend {
	t.Helper()
	if o.Path == "" {
		o.Path = filepath.Join(t.TempDir(), "state.db")
	}
	b, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}
