package supply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestParted bounds a client's name that has parts, in bytes: no program has as long a name for a table or column.
const longestParted = 1024

// HasAround reports whether an upstream could read a client's member as a part of one of these, or as one behind the name of a
// table: to Mongoose and Icinga `meta.role` is the role inside meta, and to Knex and Laravel `users.role` is the role. They divide
// a name at dots, MongoEngine also at `__`, and Laravel and Objection take what is in front of `->` and `:`.
func (n Names) HasAround(member string) bool {
	if len(n) == 0 || !strings.ContainsAny(member, ".:>") && !strings.Contains(member, "__") {
		return false
	}
	if n.hasBeforeDot(member) {
		return true
	}
	if len(member) > longestParted {
		return false
	}
	head, _, _ := strings.Cut(member, ":")
	head, _, _ = strings.Cut(head, "->")
	parts := slices.DeleteFunc(strings.Split(strings.ReplaceAll(head, "__", "."), "."), func(part string) bool { return part == "" })
	return (len(parts) > 1 || head != member) && slices.ContainsFunc(parts, n.Has)
}

// hasBeforeDot reports whether one of these is what a client's name has in front of one of its dots. It reduces the name as
// [plainName] does, but once for all dots: a name may have very many.
func (n Names) hasBeforeDot(name string) bool {
	plain := make([]byte, 0, 64)
	ended := false
	for _, c := range name {
		switch {
		case c == '.' && len(plain) > 0 && n[string(plain)]:
			return true
		case ended && c == '.', len(plain) > longestParted:
			return false
		case isWord(c) && !ended:
			plain = utf8.AppendRune(plain, unicode.ToLower(unicode.ToUpper(c)))
		case len(plain) > 0 && strings.ContainsRune("([]\x00", c):
			ended = true
		}
	}
	return false
}

// HasInside reports whether an upstream could read one of these as a part of a client's member: `meta.role` as the
// role inside meta.
func (n Names) HasInside(member string) bool { return len(n) > 0 && n[plainName(member)+"."] }

// noteAround notes the members that a name has dots behind.
func (n Names) noteAround(name string) {
	for i, c := range name {
		if c == '.' && plainName(name[:i]) != "" {
			n[plainName(name[:i])+"."] = true
		}
	}
}

// HasField reports whether Django or Struts could read a client's field of a form as a part of one of these.
func (n Names) HasField(field string) bool {
	return len(n) > 0 && slices.ContainsFunc(withoutWidgets(field), n.Has)
}

// deepestWidget is how many widgets of Django may be inside each other, such as a date in a time in a list.
const deepestWidget = 4

// widgets are what Django's widgets append to the name of a field, besides numbers: for the parts of a date, and to
// remove a file.
var widgets = []string{"_year", "_month", "_day", "-clear"}

// marks are put in front of a name for Struts to empty the field if it is not there.
var marks = []string{"__checkbox_", "__multiselect_"}

// withoutWidgets returns the names that Django may read a field of a form as a part of: `due` for `due_year`, and `at_0`
// and `at` for `at_0_day`; and for `__checkbox_due` the one that Struts empties.
func withoutWidgets(field string) (names []string) {
	for _, mark := range marks {
		if whole, ok := strings.CutPrefix(field, mark); ok {
			return []string{whole}
		}
	}
	for range deepestWidget {
		whole, ok := withoutWidget(field)
		if !ok {
			break
		}
		names, field = append(names, whole), whole
	}
	return names
}

func withoutWidget(field string) (whole string, ok bool) {
	for _, end := range widgets {
		if whole, ok = strings.CutSuffix(field, end); ok {
			return whole, true
		}
	}
	whole, ok = strings.CutSuffix(strings.TrimRight(field, "0123456789"), "_")
	return whole, ok && len(whole)+1 < len(field)
}
