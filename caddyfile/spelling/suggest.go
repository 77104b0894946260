package spelling

import (
	"slices"
	"strings"
)

// maxWord bounds what is compared, in bytes; no word of ours is longer.
const maxWord = 64

// Suggest returns the text " (did you mean WORD?)" for the known word that is nearest to the
// one given, "" when none is near. Up to a third of the letters may be wrong, missing,
// superfluous or in the wrong order, and the first letters alone are enough.
func Suggest(word string, known []string) string {
	if len(word) < 2 || len(word) > maxWord {
		return ""
	}
	best, least := "", max(1, len(word)/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		d := distance(strings.ReplaceAll(strings.ToLower(word), "-", "_"), strings.ReplaceAll(k, "-", "_"))
		if len(word) >= 4 && strings.HasPrefix(k, word) {
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that make
// b of a.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			wrong := 1
			if a[i] == b[j] {
				wrong = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+wrong)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
