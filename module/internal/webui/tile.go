package webui

import (
	"hash/fnv"
	"strconv"
	"strings"
	"unicode"
)

// tileColors is the number of tile colours in the style sheet: --tile-0 and the classes h1, h2
// ...
const tileColors = 6

// Hue returns the style sheet's class for the tile of an ID: the same ID always gets the same colour.
func (d data) Hue(id string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return "h" + strconv.Itoa(int(h.Sum32()%tileColors))
}

// Initials returns one or two letters of a name for its tile: the first letters of the first and
// last word, or one character of a script without letter case. "?" if there is none.
func (d data) Initials(name string) string {
	var letters []rune
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("-_.@/", r) }) {
		for _, r := range word {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				letters = append(letters, unicode.ToUpper(r))
				break
			}
		}
	}
	switch {
	case len(letters) == 0:
		return "?"
	case len(letters) == 1 || !unicode.IsUpper(letters[0]) && !unicode.IsDigit(letters[0]):
		return string(letters[0])
	}
	return string([]rune{letters[0], letters[len(letters)-1]})
}
