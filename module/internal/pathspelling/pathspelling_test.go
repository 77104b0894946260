package pathspelling

import (
	"slices"
	"strings"
	"testing"
)

// Reading a path must not take long: HTTP/2 repeats one of 4 kB for a few bytes.
func TestLongPathsAreDecodedLessOften(t *testing.T) {
	deep := "/%" + strings.Repeat("25", 20) + "41"
	for _, c := range []struct {
		path  string
		times int
		all   bool
	}{
		{"/a", 1, true}, {"/%41", 2, true}, {"/100%", 1, true}, {"/%252541", 4, true}, {deep, 8, false},
		{deep + strings.Repeat("/a", 1000), 3, false}, {deep + strings.Repeat("/a", 1<<19), 2, false},
		{strings.Repeat("/a", 1<<19), 1, true}, {"/%41" + strings.Repeat("/a", 1<<19), 2, true},
	} {
		decoded, all := Decoded(c.path)
		if len(decoded) != c.times || all != c.all || decoded[0] != c.path {
			t.Errorf("%.50s, %d bytes: %d times, all %v, want %d, %v", c.path, len(c.path), len(decoded), all, c.times, c.all)
		}
	}
}

func TestPlainPathHasNoOtherReading(t *testing.T) {
	paths, plains := []string{""}, 0
	for range 6 {
		for _, p := range slices.Clone(paths) {
			for _, c := range []string{"/", "a", ".", ";", `\`, " ", "\x00", "é", "\x7f"} {
				if len(p) < 6 {
					paths = append(paths, p+c)
				}
			}
		}
		slices.Sort(paths)
		paths = slices.Compact(paths)
		if len(paths) > 20000 {
			break
		}
	}
	for _, p := range paths {
		if !IsPlain(p) {
			continue
		}
		plains++
		if plain(p) != p || resolveDots(p) != p || !yieldRest(p, func(string) bool { return false }) {
			t.Errorf("%q: %q, %q", p, plain(p), resolveDots(p))
		}
		if got := slices.Collect(Readings(p)); !slices.Equal(got, []string{p}) {
			t.Errorf("%q is read as %q", p, got)
		}
	}
	if plains < 20 {
		t.Errorf("only %d plain paths among %d", plains, len(paths))
	}
}
