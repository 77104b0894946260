package validate

import "testing"

func TestWidthOfPatterns(t *testing.T) {
	for pattern, want := range map[string]float64{
		"": 1, "a": 1, "^a$": 1, "^[a-z]{1,255}$": 1, "^[0-9a-f]{8}-[0-9a-f]{4}$": 1, "^.*$": 1, `\Aa{1,9}b`: 2, // another a or the b
		"[a-z]{1,255}": 255, "[a-z]{1,255}[0-9]": 256, "(?i)k{3}": 3, "^.*a{1,9}$": 10, "^(a|b)*c{0,50}$": 2, "^(?:a?){20}$": 20,
		"x.{1,255}y.{1,255}z": 1023, // its sets are too many to be visited
		"(":                   1,
	} {
		if got := width(pattern); got != want {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
}
