package quickstart

import (
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// node runs a script of .ci/node with the addresses and secrets in its environment.
func (s *stand) node(t *testing.T, limit time.Duration, script string, open func(address string) string, more ...string) string {
	t.Helper()
	env := append(s.Env, "ISSUER="+s.issuer, "API="+s.api, "READER="+s.reader,
		"READER_SECRET="+s.Secret(t, "READER_SECRET"), "NIGHTLY_SECRET="+s.Secret(t, "NIGHTLY_SECRET"),
		"USERNAME="+username, "PASSWORD="+password)
	return harness.Node(t, limit, script, append(env, more...), open)
}
