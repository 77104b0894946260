package lifecycle

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func body(t *testing.T, address string) string {
	t.Helper()
	status, text := harness.Get(t, address)
	if status != 200 {
		t.Fatalf("%s: %d", address, status)
	}
	return text
}
