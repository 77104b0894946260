//go:build !linux

package harness

import "testing"

// stateDir creates a directory for the test.
func stateDir(t testing.TB) string {
	t.Helper()
	return t.TempDir()
}
