package growth

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/plugins/directory/file"
)

// A users' file is read again while people sign in.
func TestUsersFileReloadCost(t *testing.T) {
	for _, n := range sizes(1000, 10_000, 100_000) {
		path := filepath.Join(t.TempDir(), "users.json")
		size := writeUsers(t, path, n)
		empty := heapInUse()
		begun := time.Now()
		source := &file.Source{Path: path}
		if err := source.Provision(caddy.Context{}); err != nil {
			t.Fatal(err)
		}
		if err := source.Validate(); err != nil {
			t.Fatal(err)
		}
		loaded := time.Since(begun)
		begun = time.Now()
		users, err := source.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		opened := time.Since(begun)
		each := (heapInUse() - empty) / int64(n)
		quiet := timeSignIn(t, users)

		begun = time.Now()
		writeUsers(t, path, n+1)
		var longest time.Duration
		for known := false; !known; {
			longest = max(longest, timeSignIn(t, users))
			_, known, err = users.Lookup(t.Context(), fmt.Sprintf("u-%d", n))
			if err != nil || time.Since(begun) > 5*time.Minute {
				t.Fatalf("the changed file is not read: %v", err)
			}
		}
		t.Logf("| %6d users, %d KiB | loaded in %v, then opened in %v | %d B of memory each | read again in %v | a sign-in takes %v, at most %v meanwhile |",
			n, size>>10, loaded.Round(time.Millisecond), opened.Round(time.Microsecond), each, time.Since(begun).Round(time.Millisecond), quiet.Round(time.Millisecond), longest.Round(time.Millisecond))
		if c, ok := users.(interface{ Close() error }); ok {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// writeUsers puts a file of n users in the place of another, and returns its size.
func writeUsers(t *testing.T, path string, n int) int {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"users": [`)
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"id": "u-%d", "username": "user%[1]d", "name": "User %[1]d", "email": "user%[1]d@example.com", "password_hash": "%s"}`, i, harness.PasswordHash)
	}
	b.WriteString("]}\n")
	harness.FailOn(t, os.WriteFile(path+".new", []byte(b.String()), 0o600))
	old := time.Now().Add(-time.Hour) // no file of this second, which is read twice
	harness.FailOn(t, os.Chtimes(path+".new", old, old))
	harness.FailOn(t, os.Rename(path+".new", path))
	return b.Len()
}

func timeSignIn(t *testing.T, users directory.Directory) time.Duration {
	t.Helper()
	begun := time.Now()
	if _, ok, err := users.Authenticate(t.Context(), "user7", harness.Password); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return time.Since(begun)
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
