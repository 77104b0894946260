package guard

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The index finds the same rule as trying one after the other.
func TestTheIndexFindsTheFirstRule(t *testing.T) {
	words := []string{"a", "B", "ab", "ä", "Ä", "k", "\u212a", "ſ", "S", "*", "", "x1"}
	random := rand.New(rand.NewPCG(1, 2))
	word := func(from []string) string { return from[random.IntN(len(from))] }
	path := func(from []string) string {
		var b strings.Builder
		for range 1 + random.IntN(4) {
			b.WriteString("/" + word(from))
		}
		return b.String()
	}
	for range 200 {
		var rules []Rule
		for range 40 {
			r := Rule{Paths: []string{path(words), path(words)}, Public: random.IntN(3) == 0}
			if !r.Public {
				r.Scopes = []string{"read"}
			}
			if random.IntN(2) == 0 {
				r.Methods = []string{word([]string{"GET", "POST"})}
			}
			if all, _, err := compileRules(append(rules[:len(rules):len(rules)], r), challenges{}, nil); err == nil {
				rules = append(rules, r)
				checkEveryRuleIsReachable(t, all)
			}
		}
		compiled, index, err := compileRules(rules, challenges{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if index == nil {
			continue
		}
		linear, indexed := &Guard{rules: compiled}, &Guard{rules: compiled, index: index}
		for range 200 {
			p, method := path(append(words, "B", "Z")), word([]string{"GET", "POST", "PUT"})
			if want, got := linear.findRule(method, p), indexed.findRule(method, p); got != want {
				t.Fatalf("%s %s: rule %d, want %d of %+v", method, p, got, want, rules)
			}
		}
	}
}

// checkEveryRuleIsReachable compares with every rule before the last what compileRules accepted by its index.
func checkEveryRuleIsReachable(t *testing.T, rules []rule) {
	t.Helper()
	last := rules[len(rules)-1]
	all := new(ruleIndex)
	for i := range rules[:len(rules)-1] {
		all.below = append(all.below, i) // a candidate for every path
	}
	if err := checkReachable(rules, all, last); err != nil {
		t.Errorf("accepted: %v", err)
	}
}

func BenchmarkRules(b *testing.B) {
	for _, n := range []int{4, 10, 100, 10_000} {
		rules := make([]Rule, n)
		for i := range rules {
			rules[i] = Rule{Scopes: []string{"read"}, Paths: []string{fmt.Sprintf("/r%d/*", i)}}
		}
		compiled, index, err := compileRules(rules, challenges{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		g := &Guard{rules: compiled, index: index}
		path := fmt.Sprintf("/r%d/7", n-1)
		b.Run(fmt.Sprint("find/", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if g.findRule("GET", path) != n-1 {
					b.Fatal("another rule")
				}
			}
		})
		b.Run(fmt.Sprint("compile/", n), func(b *testing.B) {
			for b.Loop() {
				_, _, _ = compileRules(rules, challenges{}, nil)
			}
		})
	}
}
