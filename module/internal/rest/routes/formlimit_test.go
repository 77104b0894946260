//go:build !race

// One goroutine reads large forms, which takes half a minute with -race:
// ./xcaddy.sh test runs tests of files like this without -race.

package routes

import (
	"strings"
	"testing"
)

// A form names with each value all that it is nested in.
func TestFormEncodingExpansionIsLimited(t *testing.T) {
	long := strings.Repeat("n", 200<<10)
	for name, body := range map[string]string{
		"values below a long name":      `{"` + long + `":[` + strings.Repeat("1,", 100_000) + `1]}`,
		"members below a long name":     `{"a":{"` + long + `":{"x":[` + strings.Repeat(`{"y":1},`, 20_000) + `1]}}}`,
		"numbers of two bytes as parts": `{"a":[` + strings.Repeat("1,", 400_000) + `1]}`,
	} {
		for _, as := range []string{"form", "multipart"} {
			up, status := formed(t, as, body)
			small := as == "form" && strings.HasPrefix(name, "numbers")
			if want := map[bool]int{true: 200, false: 413}[small]; status != want || len(up.Body) > 17*len(body) {
				t.Errorf("%s as %s: %d with %d bytes of %d, want %d", name, as, status, len(up.Body), len(body), want)
			}
		}
	}
	for _, as := range []string{"form", "multipart"} {
		if up, status := formed(t, as, `{"tags":[`+strings.Repeat("1,", 4_000)+`1]}`); status != 200 || strings.Count(string(up.Body), "tags") != 4_001 {
			t.Errorf("%s: an array of 4,001 numbers is %d", as, status)
		}
	}
}
