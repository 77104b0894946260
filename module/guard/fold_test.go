package guard

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Characters that are equal by the mappings of package strings, or by the full ones of Unicode, which JavaScript, Java and Python
// use, are equal for a rule. This walks all of Unicode.
func TestRuleIgnoresCaseLikeAnyUpstream(t *testing.T) {
	full := []cases.Caser{cases.Lower(language.Und), cases.Upper(language.Und), cases.Title(language.Und), cases.Fold()}
	const block = 64
	for first := rune(0); first <= unicode.MaxRune; first += block {
		// Most of Unicode has no case. A space before each character makes it a word, so that Title looks at it.
		var text strings.Builder
		for r := first; r < first+block; r++ {
			text.WriteString(" " + string(r))
		}
		cased := slices.ContainsFunc(full, func(c cases.Caser) bool { return c.String(text.String()) != text.String() })
		for r := first; r < first+block; r++ {
			if r >= 0xd800 && r < 0xe000 {
				continue // no characters
			}
			others := []rune{unicode.ToLower(r), unicode.ToUpper(r), unicode.ToTitle(r), unicode.SimpleFold(r)}
			for _, other := range others {
				if other != r {
					checkSameInAnyCase(t, r, string(other))
				}
			}
			if cased && r != 'İ' { // whose full form has a dot of its own
				for _, c := range full {
					checkSameInAnyCase(t, r, c.String(string(r)))
				}
			}
			if folded := foldRune(r); folded != r && !strings.EqualFold(string(r), string(folded)) {
				t.Errorf("%U is the same as %U", r, folded)
			}
		}
	}
	for _, different := range [][2]string{{"a", "b"}, {"a", ""}, {"", "é"}, {"a", "aa"}, {"é", "éé"}, {"aé", "aéé"}, {"é", "e"}, {"ß", "s"}, {"ii", "İ"}} {
		if a, b := different[0], different[1]; sameInAnyCase(a, b) || sameInAnyCase(b, a) {
			t.Errorf("%q and %q are the same", a, b)
		}
	}
}

func checkSameInAnyCase(t *testing.T, r rune, other string) {
	t.Helper()
	a, b := "x"+string(r)+"y", "X"+other+"Y"
	if a != b && (!sameInAnyCase(a, b) || string(appendFolded(nil, a)) != string(appendFolded(nil, b))) {
		t.Errorf("%U and %q are not the same", r, other)
	}
}
