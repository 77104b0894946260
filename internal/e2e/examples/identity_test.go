package examples

import (
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
)

func TestUpstreamIdentityExample(t *testing.T) {
	t.Parallel()
	e := example.Start(t, "upstream-identity")
	e.Follow(t)
	e.Private(t, "state/env", "state/state.db", "state/caddy.log")
	e.Unwritten(t, e.Secret(t, "CENSUS_SECRET"))
}
