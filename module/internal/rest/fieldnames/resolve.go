package fieldnames

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// Resolve returns the resource with those of its pointers as names that are names. A pointer to a
// member of the outermost level is another way to write the name, for one with a slash in it. Beside
// another name it remains a pointer, which applies to answers only.
func Resolve(r *resource.Resource) (*resource.Resource, error) {
	for _, ours := range slices.Sorted(maps.Keys(r.Rename)) {
		theirs := r.Rename[ours]
		if resource.IsPointer(theirs) {
			return nil, fmt.Errorf("rename %s=%s: expected the name of a member of the resource; pointers are in lift", ours, theirs)
		}
		if strings.Contains(theirs, "/") {
			return nil, fmt.Errorf("rename %s=%s: unexpected '/' in a name, expected %s=/%s for a member inside another, or %s=%s for a name with a slash in it",
				ours, theirs, ours, theirs, ours, splice.Pointer{theirs})
		}
	}
	if len(r.Lift) == 0 {
		return r, nil
	}
	named := *r
	for ours, text := range r.Lift {
		at, err := splice.ParsePointer(text)
		if _, both := r.Rename[ours]; err != nil || len(at) != 1 || both {
			continue
		}
		if len(named.Lift) == len(r.Lift) {
			named.Lift, named.Rename = maps.Clone(r.Lift), maps.Clone(r.Rename)
			if named.Rename == nil {
				named.Rename = make(map[string]string)
			}
		}
		named.Rename[ours] = at[0]
		delete(named.Lift, ours)
	}
	return &named, nil
}

// nameAnswers names the members that have different names in bodies and in answers. lifted has the
// pointers of our names.
func (n *Names) nameAnswers(lifted map[string]splice.Pointer) error {
	r := n.config
	for ours := range lifted {
		if theirs, named := r.Rename[ours]; named {
			delete(n.answers.names, theirs)
		}
		delete(n.answers.words, r.Their(ours))
	}
	for _, ours := range slices.Sorted(maps.Keys(lifted)) {
		from := lifted[ours]
		if len(from) > 1 {
			continue
		}
		name := from[0]
		switch other := n.answers.names[name]; {
		case name == "":
			return errors.New("rename " + ours + "=/: expected a name behind the slash")
		case other != "":
			return fmt.Errorf("rename %s=%s: %s has the name %s already, expected one name for each", ours, from, name, other)
		case slices.Contains(n.answers.drop, name):
			return fmt.Errorf("rename %s=%s: drop names it too, expected one of both", ours, from)
		}
		n.answers.names[name] = ours
		if words := n.words[r.Their(ours)]; words != nil {
			n.answers.words[name] = words
		}
	}
	// A member with the body's name in an answer is another one, and could not be written.
	for ours := range lifted {
		if theirs, named := r.Rename[ours]; named && n.answers.names[theirs] == "" {
			n.answers.drop = append(n.answers.drop, theirs)
		}
	}
	slices.Sort(n.answers.drop)
	return nil
}
