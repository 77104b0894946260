package arch

import (
	"slices"
	"strings"
	"testing"
)

// guessable are sources of numbers that somebody else can compute: a seed of the clock, or
// a generator whose state a few outputs tell (CVE-2024-21495).
var guessable = []string{"math/rand", "golang.org/x/exp/rand", "github.com/valyala/fastrand", "lukechampine.com/frand"}

// U28, the static half; module/internal/secret has the other.
func TestRandomnessComesFromCryptoRand(t *testing.T) {
	users := func(all map[string][]string) (found []string) {
		for dir, imports := range all {
			for _, imp := range imports {
				if slices.ContainsFunc(guessable, func(g string) bool { return imp == g || strings.HasPrefix(imp, g+"/") }) {
					found = append(found, dir+" imports "+imp)
				}
			}
		}
		return found
	}
	all := packages(t)
	for _, found := range users(all) {
		t.Errorf("U28 %s", found)
	}
	// What makes secrets takes them from the system, so the table has not lost it.
	if !slices.Contains(all["module/internal/secret"], "crypto/rand") {
		t.Error("U28 module/internal/secret does not import crypto/rand")
	}
	for _, planted := range []string{"math/rand", "math/rand/v2"} {
		if len(users(map[string][]string{"module/x": {planted}})) != 1 {
			t.Errorf("U28 %s would not be found", planted)
		}
	}
}
