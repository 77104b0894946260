package main

import (
	"regexp"
	"strings"
	"testing"
)

func TestRowNamesAreUniqueAndShort(t *testing.T) {
	seen := make(map[string]bool)
	for _, g := range new(bench).groups() {
		for _, r := range g.all() {
			if seen[r.name] {
				t.Errorf("two rows are named %s", r.name)
			}
			if seen[r.name] = true; len(r.name) > nameWidth {
				t.Errorf("%s is longer than the table's column", r.name)
			}
			if r.gateway == nil && r.name != "/token" { // the issuer's
				t.Errorf("%s has no gateway", r.name)
			}
		}
		if g.base.bound > 0 {
			t.Errorf("the base %s has a bound", g.base.name)
		}
	}
}

func TestOnlyFlagSelectsRowsWithTheirBase(t *testing.T) {
	b := &bench{options: options{only: regexp.MustCompile("HTTP/2$|^1,000 rules$")}}
	var names []string
	for _, g := range b.selected() {
		for _, r := range g.all() {
			names = append(names, r.name)
		}
	}
	want := "bare Caddy, reverse_proxy, HTTP/2; bare Caddy, respond, HTTP/2; errors, guard, 2 limits, reverse_proxy, HTTP/2; " +
		"errors, guard, 2 limits, api_proxy, HTTP/2; one token, one rule; 1,000 rules"
	if got := strings.Join(names, "; "); got != want {
		t.Error(got)
	}
}

func TestOnlyTheLastRuleMatches(t *testing.T) {
	for rules, want := range map[int]int{0: 0, 1: 0, 10: 9, 1000: 999} {
		text := unmatchedRules(rules - 1)
		if got := strings.Count(text, "scope read GET /resource-"); got != want || strings.Contains(text, " /read") {
			t.Errorf("%d rules: %d others", rules, got)
		}
	}
}

func TestEachBenchmarkConfigCountsSeparately(t *testing.T) {
	b := new(bench)
	one, other := b.globalOptions("full, api_proxy", gatehouse{redis: true}), b.globalOptions("full, api_rest", gatehouse{redis: true})
	if !strings.Contains(one, "prefix full--api-proxy:\n") || !strings.Contains(other, "prefix full--api-rest:\n") {
		t.Errorf("%.300s\n%.300s", one, other)
	}
	if strings.Contains(b.globalOptions("x", gatehouse{}), "limiter") {
		t.Error("limits in memory have a limiter")
	}
	if n := strings.Count(one, "\nclient c"); n != clients {
		t.Error(n, "clients")
	}
}
