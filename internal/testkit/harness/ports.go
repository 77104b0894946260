package harness

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/ports"
)

// FreePorts returns ports on which nothing listens.
func FreePorts(t testing.TB, n int) []int {
	t.Helper()
	return ports.Gateways.Free(t, n)
}
