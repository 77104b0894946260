package fieldnames

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hiddenPlaces are the places of members that clients do not get, by their letters and digits alone: C# and ORMs read
// pinCode, PIN_CODE and $pin_code as pin_code, and some APIs metaKey as the key inside meta.
type hiddenPlaces struct {
	places map[string]bool // keys of whole places
	around map[string]bool // keys of what contains them
	long   int             // bytes of the longest of these keys
}

// signMark begins the key of a place whose name begins with a sign. A name without one is another member: _id and id.
const signMark = "_"

// step is a step into an object.
type step struct {
	key    string // its letters and digits in lower case
	signed bool   // there is a sign in front
}

// stepsOf returns the steps of a name, which has dots between them, or two underscores as in Django. Steps without a letter,
// such as the index in a list, are left out.
func stepsOf(name string) (steps []step) {
	signed := false
	for part := range strings.SplitSeq(strings.ReplaceAll(name, "__", "."), ".") {
		first, _ := utf8.DecodeRuneInString(part)
		signed = signed || !isWord(first)
		if strings.ContainsFunc(part, unicode.IsLetter) {
			steps, signed = append(steps, step{wordKey(part), signed}), false
		}
	}
	return steps
}

// wordKey returns the letters and digits of a name in lower case.
func wordKey(name string) string {
	return strings.Map(func(c rune) rune {
		if !isWord(c) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(c))
	}, name)
}

// note notes a place.
func (h *hiddenPlaces) note(place string) {
	steps := stepsOf(place)
	key := ""
	for i, s := range steps {
		if i == 0 && s.signed {
			key = signMark
		}
		key += s.key
		if i < len(steps)-1 {
			h.around[key] = true
		}
	}
	h.places[key] = true
	h.long = max(h.long, len(key))
}

// has reports whether some steps of a name, one behind the other, are a place: in front of them may be the name of a table,
// as in users.pin, and behind them what is inside the place. A name without letters may be the number of any column.
func (h *hiddenPlaces) has(name string) bool {
	steps := stepsOf(name)
	if len(steps) == 0 {
		return len(h.places) > 0
	}
	return h.find(steps, func(key string, _ bool) bool { return h.places[key] })
}

// isInside reports whether a place is inside what the last steps of a name are.
func (h *hiddenPlaces) isInside(name string) bool {
	return h.find(stepsOf(name), func(key string, last bool) bool { return last && h.around[key] })
}

// find reports whether one of the keys of some steps, one behind the other, is it. last says that no step follows.
func (h *hiddenPlaces) find(steps []step, is func(key string, last bool) bool) bool {
	for i, first := range steps {
		key := ""
		for j, s := range steps[i:] {
			if key += s.key; len(key) > h.long {
				break
			}
			last := i+j == len(steps)-1
			if is(key, last) || first.signed && is(signMark+key, last) {
				return true
			}
		}
	}
	return false
}
