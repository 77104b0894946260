package spelling

import (
	"strings"
	"testing"
)

func TestSuggest(t *testing.T) { // S11
	known := []string{"issuer", "client", "user", "scope", "scopes", "redirect_uri", "post_logout_redirect_uri", "ip", "rotate-secret", strings.Repeat("w", 63)}
	for word, want := range map[string]string{
		"isuer": "issuer", "Issuer": "issuer", "issure": "issuer", "clients": "client", "scpoe": "scope", "scopess": "scopes",
		"redirect": "redirect_uri", "redirect-uri": "redirect_uri", "rotate_secret": "rotate-secret", "io": "ip",
		"colour": "", "x": "", "": "", "zz": "", strings.Repeat("w", 64): strings.Repeat("w", 63), strings.Repeat("w", 65): "",
	} {
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		if got := Suggest(word, known); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
