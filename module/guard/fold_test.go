package guard

import (
	"strings"
	"testing"
	"unicode"
)

// Two characters that are equal by ToLower, ToUpper, ToTitle or simple folding are equal for a rule. This walks all of
// Unicode: a character is the same as what each of them makes of it, and so are any two of which it makes the same.
func TestARuleIgnoresCaseInEveryWayAnUpstreamMay(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for _, other := range []rune{unicode.ToLower(r), unicode.ToUpper(r), unicode.ToTitle(r), unicode.SimpleFold(r)} {
			if r == other {
				continue
			}
			a, b := "x"+string(r)+"y", "X"+string(other)+"Y"
			if !sameInAnyCase(a, b) || string(appendFolded(nil, a)) != string(appendFolded(nil, b)) {
				t.Errorf("%U and %U are not the same", r, other)
			}
		}
		if folded := foldRune(r); folded != r && !strings.EqualFold(string(r), string(folded)) && r != 'İ' && r != 'ı' {
			t.Errorf("%U is the same as %U", r, folded)
		}
	}
	for _, different := range [][2]string{{"a", "b"}, {"a", ""}, {"", "é"}, {"a", "aa"}, {"é", "éé"}, {"aé", "aéé"}, {"é", "e"}, {"ß", "ss"}, {"ii", "İ"}} {
		if a, b := different[0], different[1]; sameInAnyCase(a, b) || sameInAnyCase(b, a) {
			t.Errorf("%q and %q are the same", a, b)
		}
	}
}
