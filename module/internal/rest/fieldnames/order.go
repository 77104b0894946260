package fieldnames

import (
	"regexp"
	"strings"
)

// sortField is a field of `sort` in the forms that can be translated: a member or a member of it, with a sign in front or
// the direction behind it.
var sortField = regexp.MustCompile(`^( ?[-+]?)([\pL\pN_$@][\pL\pN_$@-]*)((?:\.[\pL\pN_$@-]+)*)([: ](?i:asc|desc))?$`)

// SortField writes a field of a sort that no configuration has declared by the upstream's names. It reports false for a
// member that clients do not know by this name or do not get, which the order would tell them of, and for what has no form
// in which that could be seen.
func (n *Names) SortField(field string) (theirs string, ok bool) {
	if !n.ChangeAnswers() {
		return field, true
	}
	sign := field[:len(field)-len(strings.TrimLeft(field, " +-"))]
	if theirs, renamed := n.config.Rename[field[len(sign):]]; renamed {
		return sign + theirs, !n.hidden.isInside(theirs)
	}
	parts := sortField.FindStringSubmatch(field)
	if parts == nil {
		return "", false
	}
	theirs, ok = n.Theirs(parts[2])
	return parts[1] + theirs + parts[3] + parts[4], ok && !n.Hides(theirs+parts[3])
}

// Hides reports whether an upstream may take a name for a member that clients do not get, for something inside it, or for
// something that contains it: MongoDB and PostgreSQL order objects by all that is in them.
func (n *Names) Hides(name string) bool { return n.hidden.has(name) || n.hidden.isInside(name) }

// noteHidden notes the members that clients do not get.
func (n *Names) noteHidden() {
	n.hidden = hiddenPlaces{places: make(map[string]bool), around: make(map[string]bool)}
	for _, name := range n.answers.drop {
		n.hidden.note(name)
	}
	for _, at := range n.answers.dropAt {
		n.hidden.note(strings.Join(at, "."))
		if at[0] == "attributes" { // of JSON:API, which names them without it
			n.hidden.note(strings.Join(at[1:], "."))
		}
	}
}
