package oauth

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/quickest"
)

func TestScopesAreSplitAtSpacesInOrder(t *testing.T) { // A23
	for in, want := range map[string][]string{
		"": nil, " ": nil, "a": {"a"}, "b a": {"b", "a"}, "  a   b ": {"a", "b"}, "a b a": {"a", "b"},
		"A a": {"A", "a"}, "read:all read": {"read:all", "read"}, "https://x.example/s!": {"https://x.example/s!"},
	} {
		got, ok := ParseScopes(in)
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", in, got, ok)
		}
	}
}

func TestMalformedScopesAreRefused(t *testing.T) { // A23, RFC 6749 section 3.3
	for _, in := range []string{`a"`, `a\b`, "a\tb", "a\nb", "a\x00", "a\x7f", "\u00e9", "a \u00a0", "a\xff"} {
		if got, ok := ParseScopes(in); ok {
			t.Errorf("%q: %q", in, got)
		}
	}
	if ValidScope("") {
		t.Error("the empty scope is one")
	}
}

func TestScopeCountAndLengthAreLimited(t *testing.T) { // A24
	var names []string
	for i := range MaxScopes {
		names = append(names, fmt.Sprint("s", i))
	}
	if got, ok := ParseScopes(JoinScopes(names)); !ok || len(got) != MaxScopes {
		t.Errorf("%d scopes: %d, %v", MaxScopes, len(got), ok)
	}
	if _, ok := ParseScopes(JoinScopes(append(names, "more"))); ok {
		t.Error("one scope above the cap was taken")
	}
	if _, ok := ParseScopes(strings.Repeat("a", MaxScopeLength)); !ok {
		t.Error("a scope at the cap was refused")
	}
	if _, ok := ParseScopes(strings.Repeat("a", MaxScopeLength+1)); ok {
		t.Error("a scope above the cap was taken")
	}
	half := strings.Repeat("a ", 500_000)
	const most = 5 * time.Millisecond
	if took := quickest.Of(10, most, func() { _, _ = ParseScopes(half) }); took > most {
		t.Errorf("half a million scopes took %v", took)
	}
}

func TestSubset(t *testing.T) {
	for _, c := range []struct {
		small, large []string
		want         bool
	}{
		{nil, nil, true}, {nil, []string{"a"}, true}, {[]string{"a"}, nil, false},
		{[]string{"a"}, []string{"b", "a"}, true}, {[]string{"a", "c"}, []string{"a", "b"}, false},
		{[]string{"admin"}, []string{"administrator"}, false}, {[]string{"read:all"}, []string{"read"}, false},
	} {
		if Subset(c.small, c.large) != c.want {
			t.Errorf("%q in %q: %v", c.small, c.large, !c.want)
		}
	}
}
