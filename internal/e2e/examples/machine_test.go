package examples

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
)

func TestMachineExample(t *testing.T) {
	t.Parallel()
	e := example.Start(t, "machine")
	e.Follow(t)
	e.Private(t, "state/env", "state/state.db", "state/caddy.log", "state/billing.pem")
	e.Unwritten(t, e.Secret(t, "REPORT_SECRET"))
}
