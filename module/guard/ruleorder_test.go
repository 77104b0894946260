//go:build !race

// One goroutine compares many rules and paths, which takes long with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package guard

import (
	"math/rand/v2"
	"testing"
)

// The tree decides as the rules one after the other do, and finds the same rules that never decide.
func TestRuleTreeKeepsRuleOrder(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var tree ruleTree
		var rules []rule
		for range 1 + r.IntN(40) {
			compiled, err := new(ruleTree).addRules([]Rule{randomRule(r)}, challenges{}, nil)
			if err != nil {
				continue // such as //
			}
			said := ""
			if err := tree.checkReachable(rules, compiled[0]); err != nil {
				said = err.Error()
			}
			if want := linearReachable(rules, compiled[0]); said != want {
				t.Fatalf("seed %d: %+v is said to be %q, want %q", seed, compiled[0].Rule, said, want)
			}
			if said == "" || r.IntN(2) == 0 { // routes of an api_limit may cover each other
				tree.add(len(rules), &compiled[0])
				rules = append(rules, compiled[0])
			}
		}
		for range 60 {
			method, path := []string{"GET", "POST", "PUT", "PURGE", "DELETE"}[r.IntN(5)], randomPath(r)
			n, fault := normalizeEscaped(path)
			if fault != "" {
				continue
			}
			for _, p := range []string{n.judged, n.decoded, mergeSlashes(n.decoded)} {
				if got, want := tree.find(method, p), linearFind(rules, method, p); got != want {
					t.Fatalf("seed %d: %s %q is decided by rule %d, want %d", seed, method, p, got, want)
				}
			}
		}
	}
}
