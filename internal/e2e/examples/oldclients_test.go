package examples

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

func TestOldClientsExample(t *testing.T) {
	t.Parallel()
	e := example.Start(t, "old-clients")
	e.Follow(t)
	e.Private(t, "state/env", "state/state.db", "state/caddy.log")
	e.Unwritten(t, e.Secret(t, "TILL_SECRET"))
	e.Unwritten(t, harness.Password)
}
