package cli

import (
	"debug/buildinfo"
	"go/version"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// floors are the least versions in which what we depend on has no hole that we know of
// and would be open to.
var floors = map[string]string{
	"github.com/caddyserver/caddy/v2": "v2.11.9",
	"github.com/golang-jwt/jwt/v5":    "v5.2.2",  // CVE-2025-30204
	"golang.org/x/oauth2":             "v0.27.0", // CVE-2025-22868
	"golang.org/x/net":                "v0.38.0", // CVE-2025-22870, CVE-2025-22872
	"golang.org/x/crypto":             "v0.45.0", // CVE-2025-47914, CVE-2025-58181
	"github.com/go-jose/go-jose/v3":   "v3.0.4",  // CVE-2025-27144
	"github.com/go-jose/go-jose/v4":   "v4.0.5",  // CVE-2025-27144
	"github.com/go-ldap/ldap/v3":      "v3.4.10",
	"github.com/jackc/pgx/v5":         "v5.5.4", // CVE-2024-27304
}

// O09: the half that needs no database of holes. The other is govulncheck, which
// `./xcaddy.sh test` runs.
func TestBuildUsesPatchedVersions(t *testing.T) {
	info, err := buildinfo.ReadFile(harness.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	if toolchain, _, _ := strings.Cut(info.GoVersion, " "); version.Compare(toolchain, "go1.26") < 0 {
		t.Errorf("O09 built with %s", info.GoVersion)
	}
	seen := 0
	for _, dep := range info.Deps {
		floor, ok := floors[dep.Path]
		if !ok {
			continue
		}
		seen++
		used := dep.Version
		if dep.Replace != nil {
			t.Errorf("O09 %s is replaced by %s %s, which nobody watches", dep.Path, dep.Replace.Path, dep.Replace.Version)
		}
		if older(used, floor) {
			t.Errorf("O09 %s %s, at least %s is needed", dep.Path, used, floor)
		}
	}
	if seen < 6 {
		t.Errorf("O09 only %d of the dependencies were found", seen)
	}
	for _, dep := range info.Deps {
		for _, gone := range []string{"github.com/dgrijalva/jwt-go", "github.com/golang-jwt/jwt/v4", "github.com/square/go-jose", "gopkg.in/square/go-jose.v2", "github.com/gorilla/csrf"} {
			if dep.Path == gone {
				t.Errorf("O09 %s is in the program", gone)
			}
		}
	}
}

// older compares v1.2.3 by its numbers; what follows a hyphen is younger than what it
// names would be and not looked at.
func older(used, floor string) bool {
	a, b := numbers(used), numbers(floor)
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func numbers(v string) (n [3]int) {
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "v"), "-")
	for i, part := range strings.SplitN(v, ".", 3) {
		n[i], _ = strconv.Atoi(part)
	}
	return n
}

func TestVersionsAreComparedByNumber(t *testing.T) {
	for _, c := range []struct {
		used, floor string
		want        bool
	}{
		{"v2.11.9", "v2.11.9", false}, {"v2.11.10", "v2.11.9", false}, {"v2.9.9", "v2.11.9", true}, {"v3.0.0", "v2.11.9", false},
		{"v0.0.0-20260101000000-abcdef", "v0.1.0", true}, {"v2.11.8+dirty", "v2.11.9", true},
	} {
		if got := older(c.used, c.floor); got != c.want {
			t.Errorf("%s older than %s: %v", c.used, c.floor, got)
		}
	}
}
