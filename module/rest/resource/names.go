package resource

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// withNames is the resource with the pointers that are names among its names. A pointer to a
// member of the outermost level is another way to write the name, for one with a slash in it;
// beside another name it stays a pointer, for answers alone.
func (r *Resource) withNames() (*Resource, error) {
	for _, ours := range slices.Sorted(maps.Keys(r.Rename)) {
		theirs := r.Rename[ours]
		if isPointer(theirs) {
			return nil, fmt.Errorf("rename %s=%s: expected the name of a member of the resource; pointers are in lift", ours, theirs)
		}
		if strings.Contains(theirs, "/") {
			return nil, fmt.Errorf("rename %s=%s: unexpected '/' in a name, expected %s=/%s for a member inside another, or %s=%s for a name with a slash in it",
				ours, theirs, ours, theirs, ours, splice.Pointer{theirs})
		}
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

// nameAnswers gives members that are called differently in bodies and in answers their names
// in answers. lifted are our names with their pointers.
func (s *shape) nameAnswers(r *Resource, lifted map[string]splice.Pointer) error {
	for ours := range lifted {
		if theirs, named := r.Rename[ours]; named {
			delete(s.places.names, theirs)
		}
		delete(s.places.words, r.their(ours))
	}
	for _, ours := range slices.Sorted(maps.Keys(lifted)) {
		from := lifted[ours]
		if len(from) > 1 {
			continue
		}
		name := from[0]
		switch other := s.places.names[name]; {
		case name == "":
			return errors.New("rename " + ours + "=/: expected a name behind the slash")
		case other != "":
			return fmt.Errorf("rename %s=%s: %s has the name %s already, expected one name for each", ours, from, name, other)
		case slices.Contains(s.places.drop, name):
			return fmt.Errorf("rename %s=%s: drop names it too, expected one of both", ours, from)
		}
		s.places.names[name] = ours
		if words := s.words[r.their(ours)]; words != nil {
			s.places.words[name] = words
		}
	}
	// What has such a name in an answer is not the member, and could not be written.
	for ours := range lifted {
		if theirs, named := r.Rename[ours]; named && s.places.names[theirs] == "" {
			s.places.drop = append(s.places.drop, theirs)
		}
	}
	slices.Sort(s.places.drop)
	return nil
}

// isTheirs reports whether the upstream has this name for a member that clients call otherwise.
func (s *shape) isTheirs(name string) bool {
	if _, taken := s.names[name]; taken {
		return true
	}
	_, taken := s.places.names[name]
	return taken
}
