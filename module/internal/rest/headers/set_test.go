package headers

import (
	"fmt"
	"strings"
	"testing"
)

func TestPassedHeaderFields(t *testing.T) { // R07
	named, err := New([]string{"X-WP-*", "set-cookie"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := New([]string{"*"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name                  string
		answer                Answer
		usual, named, allPass bool
	}{
		{"Content-Type", Answer{}, true, true, true},
		{"Etag", Answer{}, true, true, true},
		{"Retry-After", Answer{Status: 503}, true, true, true},
		{"X-Ratelimit-Remaining", Answer{}, true, true, true},
		{"Ratelimit-Policy", Answer{}, true, true, true},
		{"X-Request-Id", Answer{}, true, true, true},
		{"Set-Cookie", Answer{}, false, true, true},
		{"X-Wp-Total", Answer{}, false, true, true},
		{"X-Wpx", Answer{}, false, false, true},
		{"Server", Answer{}, false, false, true},
		{"X-Powered-By", Answer{}, false, false, true},
		{"Refresh", Answer{}, false, false, true},
		{"Link", Answer{}, false, false, true},
		{"Allow", Answer{Status: 405}, false, false, true},
		{"Access-Control-Allow-Origin", Answer{}, false, false, true},
		{"Content-Disposition", Answer{}, false, false, true},
		{"Content-Disposition", Answer{Page: true}, true, true, true},
		{"Content-Security-Policy", Answer{Page: true}, true, true, true},
		{"Www-Authenticate", Answer{Status: 200}, false, false, true},
		{"Www-Authenticate", Answer{Status: 401}, true, true, true},
		{"Upgrade", Answer{Status: 101}, true, true, true},
		{"Upgrade", Answer{Status: 200}, false, false, true},
	} {
		for _, s := range []struct {
			set  *Set
			want bool
		}{{nil, c.usual}, {named, c.named}, {all, c.allPass}} {
			if got := s.set.Passes(c.name, c.answer); got != s.want {
				t.Errorf("%s %+v: %t, want %t", c.name, c.answer, got, s.want)
			}
		}
	}
}

func TestInvalidHeaderNamesAreRefused(t *testing.T) {
	many := make([]string, maxNamed+1)
	for i := range many {
		many[i] = fmt.Sprintf("X-%d", i)
	}
	if _, err := New(many[:maxNamed]); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{many, "at most 100"},
		{[]string{"X A"}, "invalid name"},
		{[]string{"*-X"}, "invalid name"},
		{[]string{"Connection"}, "cannot be passed on"},
		{[]string{"etag"}, "passes anyway"},
		{[]string{"x-ratelimit-limit"}, "passes anyway"},
		{[]string{"X-A", "x-a"}, "given twice"},
	} {
		if _, err := New(c.names); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.names[:1], err, c.want)
		}
	}
}
