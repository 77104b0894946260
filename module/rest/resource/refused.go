package resource

import (
	"maps"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// methodMember is the member by which frameworks let a request stand for one of another method.
const methodMember = "_method"

// RefusedNames are the names, in order, that no member of a body may have: `_method`, the
// upstream's names of members that are renamed, and members that are read from a pointer alone.
// Spellings that an upstream may take for a declared name are refused too (see [alike]); they
// are too many to be listed.
func (r *Resource) RefusedNames() []string {
	names := map[string]bool{methodMember: true}
	for _, theirs := range r.Rename {
		if _, ours := r.Rename[theirs]; !ours {
			names[theirs] = true
		}
	}
	for ours, text := range r.Lift {
		if r.readOnly(ours) {
			names[ours] = true
		}
		if at, err := splice.ParsePointer(text); err == nil && len(at) == 1 {
			if _, ours := r.Rename[at[0]]; !ours {
				names[at[0]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
