package quickstart

import (
	"strings"
	"testing"
	"time"
)

func TestOpenIDClientLibrarySignsIn(t *testing.T) {
	s := start(t)
	out := s.node(t, 60*time.Second, "openid-client.js", func(address string) string { return s.signIn(t, address).String() })
	for _, done := range []string{"secret in the header", "secret in the body", "public client", "client credentials"} {
		if !strings.Contains(out, "done "+done+"\n") {
			t.Errorf("not done: %s\n%s", done, out)
		}
	}
}
