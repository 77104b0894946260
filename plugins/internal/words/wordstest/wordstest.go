// Package wordstest holds plugins to what package words promises of their blocks: each
// mistake is named with its place and without a secret, at adapt or at load, and every
// setting counts in the plugin's identity. It knows no plugin.
package wordstest

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Secret is the value of the environment variable that a block under test names.
const Secret = "canary-secret"

// Plugin is a pointer to a plugin's configuration.
type Plugin[T any] interface {
	*T
	caddyfile.Unmarshaler
	caddy.Provisioner
	Identity() any
}

// Loaded reads a block, changes what it says and provisions it.
func Loaded[T any, P Plugin[T]](t testing.TB, block string, change func(*T)) (*T, error) {
	t.Helper()
	s := new(T)
	if err := P(s).UnmarshalCaddyfile(caddyfile.NewTestDispenser(block)); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(s)
	}
	return s, P(s).Provision(caddy.Context{})
}

// Mistakes gives blocks with a mistake, each with a part of the error it must be.
func Mistakes[T any, P Plugin[T]](t *testing.T, blocks map[string]string) {
	t.Helper()
	for block, want := range blocks {
		err := P(new(T)).UnmarshalCaddyfile(caddyfile.NewTestDispenser(block))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Testfile:") || strings.Contains(err.Error(), Secret) {
			t.Errorf("%q: %v, want %q with file and line", block, err, want)
		}
	}
}

// Refuses changes a good block in ways that must fail the load, each with a part of the
// error it must be.
func Refuses[T any, P Plugin[T]](t *testing.T, block string, cases map[string]struct {
	Change func(*T)
	Want   string
}) {
	t.Helper()
	for name, c := range cases {
		if _, err := Loaded[T, P](t, block, c.Change); err == nil || !strings.Contains(err.Error(), c.Want) || strings.Contains(err.Error(), Secret) {
			t.Errorf("%s: %v, want %q", name, err, c.Want)
		}
	}
}

// Identities holds that the same block is one plugin, and each change of it, the value of
// the variable included, another.
func Identities[T any, P Plugin[T]](t *testing.T, block, variable string, changes ...func(*T)) {
	t.Helper()
	identity := func(value string, change func(*T)) any {
		t.Helper()
		t.Setenv(variable, value)
		s, err := Loaded[T, P](t, block, change)
		if err != nil {
			t.Fatal(err)
		}
		return P(s).Identity()
	}
	base := identity(Secret, nil)
	if identity(Secret, nil) != base {
		t.Error("the same configuration is two plugins")
	}
	if identity(Secret+"2", nil) == base {
		t.Error("another secret is the same plugin")
	}
	for i, change := range changes {
		if identity(Secret, change) == base {
			t.Errorf("change %d is the same plugin", i+1)
		}
	}
}
