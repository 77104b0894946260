package directory

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// FoldUsername returns a user name without what directories commonly ignore when they compare names: letter case,
// width, spaces and accents (the usual collations of databases) and invisible characters (RFC 4518 section 2.2). It
// is for counting failed sign-ins, so that a guesser has not one count for each spelling; two users may share it.
func FoldUsername(username string) string {
	bare := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || '\u0300' <= r && r <= '\u036f' {
			return -1
		}
		return r
	}, norm.NFKD.String(username))
	folded := cases.Fold().String(norm.NFKC.String(bare))
	return strings.Join(strings.Fields(folded), " ")
}
