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
		return sign + theirs, true
	}
	parts := sortField.FindStringSubmatch(field)
	if parts == nil {
		return "", false
	}
	theirs, ok = n.Theirs(parts[2])
	return parts[1] + theirs + parts[3] + parts[4], ok && !n.Hides(theirs+parts[3])
}

// Hides reports whether an upstream may take a name, with dots or two underscores for the steps into objects, for a member that
// clients do not get, or for something inside it.
func (n *Names) Hides(name string) bool {
	name = steps(name)
	for i := range len(name) + 1 {
		if (i == len(name) || name[i] == '.') && n.hidden.isSimilar(name[:i]) {
			return true
		}
	}
	return false
}

// noteHidden notes the members that clients do not get.
func (n *Names) noteHidden() {
	n.hidden = newSimilar(false)
	for _, name := range n.answers.drop {
		n.hidden.note(steps(name))
	}
	for _, at := range n.answers.dropAt {
		n.hidden.note(steps(strings.Join(at, ".")))
	}
}

// steps returns a name with dots for the steps into objects: Django has two underscores.
func steps(name string) string { return strings.ReplaceAll(name, "__", ".") }
