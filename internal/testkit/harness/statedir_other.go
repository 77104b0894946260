//go:build !linux

package harness

import "testing"

// stateDir returns a directory of the test's own.
func stateDir(t testing.TB) string {
	t.Helper()
	return t.TempDir()
}
