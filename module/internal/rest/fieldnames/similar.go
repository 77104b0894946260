package fieldnames

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// similar are declared names, by what upstreams may take them for.
type similar struct {
	names map[string][]string
	bound supply.Names // those with constraints, on their value or on what is inside it
	asXML bool         // some bodies become XML
}

func newSimilar(asXML bool) similar {
	return similar{names: make(map[string][]string, 1), asXML: asXML}
}

// bind says that a declared name has constraints. Nothing may be similar to it that has the same letters and digits: Symfony
// reads ro_le as role, Laravel role- too, and Is_owner is isOwner to Objection.
func (s *similar) bind(name string) {
	if strings.ContainsFunc(name, isWord) {
		s.bound = s.bound.With(name)
	}
}

// key returns what an upstream may take a name for. Rails turns hyphens in XML into underscores.
func (s similar) key(name string) string {
	name = Normalize(name)
	if s.asXML {
		name = strings.ReplaceAll(name, "-", "_")
	}
	return name
}

// note adds a declared name. Where bodies become XML, an attribute is similar to an element: Java's Jackson reads both as
// the same member.
func (s similar) note(name string) {
	at := s.key(name)
	s.names[at] = append(s.names[at], name)
	s.names[protobufName(name)] = append(s.names[protobufName(name)], name)
	if !s.asXML {
		return
	}
	if element, ok := strings.CutPrefix(at, "@"); ok {
		at = element
	} else {
		at = "@" + at
	}
	s.names[at] = append(s.names[at], name)
}

// isDisguised reports whether an upstream could take a member for a declared one beside it that is spelled in
// another way. JavaScript's Object.assign makes all that is in __proto__ such members, and Knex removes blanks around a name.
func (s similar) isDisguised(name string) bool {
	if slices.Contains(s.names[s.key(name)], name) {
		return false
	}
	plain := strings.TrimFunc(name, isBlank)
	return s.isSimilar(name) || plain != name && s.isSimilar(plain) || name == "__proto__" || s.bound.Has(name) || s.bound.HasAround(plain)
}

func (s similar) isSimilar(name string) bool {
	return len(s.names[s.key(name)]) > 0 || len(s.names[protobufName(name)]) > 0
}

// isBlank is what JavaScript's trim removes.
func isBlank(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' }

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// protobufName returns the JSON name that protobuf gives a field: displayName for display_name. It reads either. The NUL
// in front keeps it apart from the keys of normalized names, which have none.
func protobufName(name string) string {
	name = supply.WithoutParenthesis(name)
	b := []byte{0}
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' && i > 0 && i+1 < len(name) && name[i+1] != '_':
		case 'a' <= c && c <= 'z' && i > 1 && name[i-1] == '_':
			b = append(b, c-'a'+'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// Declares reports whether a name of the outermost level is spelled as it is declared.
func (n *Names) Declares(name string) bool { return n.similar.isDeclared(name) }

// isDeclared reports whether a name is spelled as it is declared.
func (s similar) isDeclared(name string) bool { return slices.Contains(s.names[s.key(name)], name) }

// IsDisguisedInForm reports whether a name in a form is a declared one to Spring or ASP.NET: `!role` gives role a value if
// there is none, `_role` empties it, and `author.role` is the role inside author. To Django `due_year` is a part of due, which
// matters if due has constraints.
func (n *Names) IsDisguisedInForm(name string) bool {
	if n.similar.bound.HasField(name) && !n.similar.isDeclared(name) {
		return true
	}
	plain, _, _ := strings.Cut(name, ".")
	for _, mark := range []string{"", "!", "_"} { // Spring removes one of each, in this order
		plain = strings.TrimPrefix(plain, mark)
		if plain != name && len(n.similar.names[n.similar.key(plain)]) > 0 {
			return !n.similar.isDeclared(name)
		}
	}
	return false
}
