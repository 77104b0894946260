package fieldnames

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/supply"
)

// Names are the compiled names and values of one resource's members.
type Names struct {
	config  *resource.Resource
	ours    map[string]string            // by the upstream's name
	words   map[string]map[string]string // the upstream's member -> its value -> our word
	similar similar                      // declared names
	hidden  hiddenPlaces                 // of members that clients do not get
	inside  place                        // declared names inside members
	answers answerEdits
}

// New compiles the names of a resource, which Resolve has returned.
func New(r *resource.Resource) (*Names, error) {
	n := &Names{config: r, ours: make(map[string]string), words: make(map[string]map[string]string)}
	if err := n.compileNames(); err != nil {
		return nil, err
	}
	if err := n.compileAnswers(); err != nil {
		return nil, err
	}
	n.noteDeclared()
	n.noteHidden()
	return n, nil
}

func (n *Names) compileNames() error {
	r := n.config
	for _, ours := range slices.Sorted(maps.Keys(r.Rename)) {
		theirs := r.Rename[ours]
		switch {
		case ours == "" || theirs == "":
			return fmt.Errorf("rename %s=%s: expected a name on both sides", ours, theirs)
		case n.ours[theirs] != "":
			return fmt.Errorf("rename %s=%s: %s has the name %s already, expected one name for each", ours, theirs, theirs, n.ours[theirs])
		}
		n.ours[theirs] = ours
	}
	for _, field := range slices.Sorted(maps.Keys(r.Values)) {
		theirs := r.Their(field)
		n.words[theirs] = make(map[string]string)
		for _, word := range slices.Sorted(maps.Keys(r.Values[field])) {
			value := r.Values[field][word]
			if other, ok := n.words[theirs][value]; ok {
				return fmt.Errorf("values %s: %s and %s both stand for %s, expected one word for each value", field, other, word, value)
			}
			n.words[theirs][value] = word
		}
	}
	return nil
}

// Ours returns the client's name of a member of a body.
func (n *Names) Ours(theirs string) string {
	return cmp.Or(n.ours[theirs], theirs)
}

// Theirs returns the upstream's name of a member that clients know by a name. It reports false for a name that clients do
// not use, and for a member that answers have in another place.
func (n *Names) Theirs(ours string) (theirs string, ok bool) {
	if theirs, renamed := n.config.Rename[ours]; renamed {
		return theirs, true
	}
	_, lifted := n.config.Lift[ours]
	return ours, !lifted && !n.isTheirs(ours)
}

// Renamed reports whether clients have another name for a member of bodies.
func (n *Names) Renamed(theirs string) bool { return n.ours[theirs] != "" }

// OursInAnswers returns the client's name of a member that an answer mentions.
func (n *Names) OursInAnswers(theirs string) string {
	return cmp.Or(n.ours[theirs], n.answers.names[theirs], theirs)
}

// isTheirs reports whether this is the upstream's name of a member that clients know by another name.
func (n *Names) isTheirs(name string) bool {
	return n.ours[name] != "" || n.answers.names[name] != ""
}

// ChangeBodies reports whether bodies have other names or values upstream.
func (n *Names) ChangeBodies() bool { return len(n.ours) > 0 || len(n.words) > 0 }

// Normalize returns the name under which an upstream may store a parameter: PHP removes leading spaces,
// and replaces other spaces and dots with underscores; many programs (of .NET, Go and databases) ignore
// case; to json-c and cJSON a NUL ends a name, to Rails a parenthesis.
func Normalize(name string) string {
	name, _, _ = strings.Cut(strings.TrimLeft(name, " "), "\x00")
	name = supply.WithoutParenthesis(name)
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
	asXML := slices.ContainsFunc(n.config.Routes, func(r resource.Route) bool { return r.As == "xml" })
	n.similar = newSimilar(asXML)
	note := func(names ...string) {
		for _, name := range names {
			n.similar.note(name)
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
	bind := func(field string) {
		n.similar.bind(field)
		n.similar.bind(n.config.Their(field))
	}
	for field := range n.config.Values {
		note(field, n.config.Their(field))
		bind(field)
	}
	for _, r := range n.config.Validate {
		at := pathOf(r.Field)
		field := at[0]
		if resource.IsPointer(r.Field) {
			n.inside.add(at, r.Constrains(), asXML)
		}
		note(field, n.config.Their(field))
		if !r.Constrains() {
			continue
		}
		bind(field)
		if steps := strings.Split(strings.Join(at, "."), "."); len(steps) > len(at) {
			n.inside.addDotted(steps, asXML)
		}
	}
	note(n.config.Replace...)
	note(n.config.Batch...)
}

// pathOf returns the steps to the member that a rule is about.
func pathOf(field string) splice.Pointer {
	if at, err := splice.ParsePointer(field); err == nil && len(at) > 0 {
		return at
	}
	return splice.Pointer{field}
}
