//go:build !race

// Every character is folded by one goroutine, which takes minutes with -race: ./xcaddy.sh test runs packages that
// have such a file with -race and without.

package guard

import (
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
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue // no characters
		}
		others := []string{string(unicode.ToLower(r)), string(unicode.ToUpper(r)), string(unicode.ToTitle(r)), string(unicode.SimpleFold(r))}
		if r != 'İ' { // whose full form has a dot of its own
			for _, c := range full {
				others = append(others, c.String(string(r)))
			}
		}
		for _, other := range others {
			if a, b := "x"+string(r)+"y", "X"+other+"Y"; a != b && (!sameInAnyCase(a, b) || string(appendFolded(nil, a)) != string(appendFolded(nil, b))) {
				t.Errorf("%U and %q are not the same", r, other)
			}
		}
		if folded := foldRune(r); folded != r && !strings.EqualFold(string(r), string(folded)) {
			t.Errorf("%U is the same as %U", r, folded)
		}
	}
	for _, different := range [][2]string{{"a", "b"}, {"a", ""}, {"", "é"}, {"a", "aa"}, {"é", "éé"}, {"aé", "aéé"}, {"é", "e"}, {"ß", "s"}, {"ii", "İ"}} {
		if a, b := different[0], different[1]; sameInAnyCase(a, b) || sameInAnyCase(b, a) {
			t.Errorf("%q and %q are the same", a, b)
		}
	}
}
