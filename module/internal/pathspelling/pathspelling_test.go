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
			for _, c := range []string{"/", "a", ".", ";", `\`, " ", "\x00", "é", "\x7f", "?", "#"} {
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

func TestReadings(t *testing.T) {
	for _, c := range []struct {
		path string
		want []string // each once
	}{
		{"/a/b", []string{"/a/b"}},
		{"/~", []string{"/~"}},
		{"/a//b/", []string{"/a/b/"}},
		// Path parameters; what C reads until a NUL; dots and blanks at the end of a segment, as Windows drops them.
		{"/a;x=1/b;y", []string{"/a/b"}},
		{"/a\x00b/c", []string{"/a/c"}},
		{"/a./b", []string{"/a/b"}},
		{"/a. \t/b", []string{"/a/b"}},
		{"/a\u3000.", []string{"/a"}},
		{"/a~.", []string{"/a~"}},
		{"/a\x7f", []string{"/a"}},
		{"/.../a", []string{"/a"}},
		{"/é/", []string{"/é/"}},
		// Dot segments, resolved by some and dropped by others.
		{"/a/./b", []string{"/a/b"}},
		{"/a/../b", []string{"/a/b", "/b"}},
		{`/a\..\b`, []string{"/a/b", "/b"}},
		{"/a;x/..;y/b", []string{"/a/b", "/b"}},
		{"/a/b/..", []string{"/a/b/", "/a/"}},
		{"/a/b/.;x", []string{"/a/b/"}},
		{"/..", []string{"/"}},
		// What servers cut off that decode a path first.
		{"/a?b", []string{"/a?b", "/a"}},
		{"/a#b", []string{"/a#b", "/a"}},
		{"/a?b#c", []string{"/a?b#c", "/a", "/a?b"}},
		{"/a#b?c", []string{"/a#b?c", "/a#b", "/a"}},
		{"/a/../b;x?c", []string{"/a/b", "/b", "/a/b", "/b"}},
		{"/?", []string{"/?", "/"}},
		// An authority, which parsers of references take from the target.
		{"//host", []string{"/host"}},
		{"//host/token", []string{"/host/token", "/token"}},
		{`/\host\token`, []string{"/host/token", "/token"}},
		{"//host/a;b/", []string{"/host/a/", "/a/"}},
		{"//host/a/../b", []string{"/host/a/b", "/host/b", "/a/b", "/b"}},
	} {
		if got := slices.Compact(slices.Collect(Readings(c.path))); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.path, got, c.want)
		}
		n := 0
		for range Readings(c.path) { // whoever has found what they looked for stops
			n++
			break
		}
		if n != 1 {
			t.Errorf("%q: %d readings after the first", c.path, n-1)
		}
	}
}

func TestDecode(t *testing.T) {
	for path, want := range map[string]string{
		"/%41": "/A", "/%2f%2F": "///", "/%a0%F0": "/\xa0\xf0", "/%%34%31": "/%41", "/%u0041b": "/Ab", "/%U00E9": "/é",
		"/100%": "/100%", "/%4": "/%4", "/%4g": "/%4g", "/%g4": "/%g4", "/%u004": "/%u004", "/%u004g": "/%u004g",
		"/%:0": "/%:0", "/%/0": "/%/0", "/%`0": "/%`0", "/%@0": "/%@0",
	} {
		if got := decode(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
