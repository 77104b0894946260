package fieldnames

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Normalize returns the name under which an upstream may store a parameter: PHP removes leading spaces,
// and replaces other spaces and dots with underscores; many programs (of .NET, Go and databases) ignore
// case.
func Normalize(name string) string {
	name = strings.TrimLeft(name, " ")
	name = strings.Map(func(c rune) rune {
		if c == ' ' || c == '.' {
			return '_'
		}
		return unicode.ToLower(unicode.ToUpper(c)) // also of signs that have several small forms
	}, name)
	return name
}

// noteDeclared notes the declared names. A body must not have them in another spelling: the member would
// bypass its rules, and the upstream could take it for the declared one.
func (n *Names) noteDeclared() {
	n.similar = make(map[string][]string)
	note := func(names ...string) {
		for _, name := range names {
			at := Normalize(name)
			n.similar[at] = append(n.similar[at], name)
		}
	}
	note(resource.MethodMember)
	for ours, theirs := range n.config.Rename {
		note(ours, theirs)
	}
	for ours := range n.config.Lift {
		note(ours)
	}
	for theirs := range n.answers.names {
		note(theirs)
	}
	for field := range n.config.Values {
		note(field, n.config.Their(field))
	}
	for _, r := range n.config.Validate {
		field := r.Field
		if at, err := splice.ParsePointer(field); err == nil && len(at) > 0 {
			field = at[0]
		}
		note(field, n.config.Their(field))
	}
	note(n.config.Replace...)
	note(n.config.Batch...)
}

// isDisguised reports whether a name is a declared one in another spelling.
func (n *Names) isDisguised(name string) bool {
	exact := n.similar[Normalize(name)]
	return len(exact) > 0 && !slices.Contains(exact, name)
}
