//go:build !race

// A hash of the cost in use takes half a minute with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package password

import (
	"strings"
	"testing"
)

func TestNewBcryptHashHasPHPsPrefix(t *testing.T) {
	hash, ok := HashBcrypt(battery)
	p, err := Parse(hash)
	if !ok || err != nil || !strings.HasPrefix(hash, "$2y$12$") || !p.Matches(battery) || !p.GoodBcrypt() {
		t.Errorf("%q, %t, %v", hash, ok, err)
	}
}
