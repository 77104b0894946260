package query

import (
	"strings"
	"testing"
)

func TestQueryIsParsedStrictly(t *testing.T) {
	for query, ok := range map[string]bool{
		"": true, "a=1&&b=2": true, "a;b=1": true, "a=%zz": false, "a=%00": false, "a=%ff": false,
		"a=" + strings.Repeat("x", MaxSize): false, strings.Repeat("a&", MaxParams): false,
	} {
		if _, err := Parse(query); (err == nil) != ok {
			t.Errorf("%.40q: %v", query, err)
		}
	}
}

func TestRedirectURIKeepsItsOwnQuery(t *testing.T) {
	for address, want := range map[string]string{
		"https://c/":      "https://c/?code=a%20b&state=%26",
		"https://c/?x=1":  "https://c/?x=1&code=a%20b&state=%26",
		"https://c/?":     "https://c/?code=a%20b&state=%26",
		"https://c/?x=1&": "https://c/?x=1&code=a%20b&state=%26",
	} {
		if got := AppendTo(address, "code", "a b", "state", "&"); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

func TestOnlyResourceMayBeRepeated(t *testing.T) {
	p, err := Parse("resource=a&resource=b&x=1&state=&state=2")
	if err != nil || p.Repeated() != "state" || len(p.All("resource")) != 2 || p.Get("missing") != "" || !p.Has("state") {
		t.Error(p, err)
	}
}
