package openapi

import (
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// placed adds to the members of an answer those that are read from inside the resource, and
// takes away what does not reach clients.
func placed(shown object, r *resource.Resource) {
	for _, text := range r.Drop {
		at := splice.Pointer{text}
		if strings.HasPrefix(text, "/") {
			at, _ = splice.ParsePointer(text) // checked when it was compiled
		}
		if _, ours := r.Rename[at[0]]; !ours {
			without(shown, at)
		}
	}
	refused := r.RefusedNames()
	for ours := range r.Lift {
		member, _ := shown[ours].(object)
		if member == nil {
			member = object{}
			shown[ours] = member
		}
		if slices.Contains(refused, ours) {
			member["readOnly"] = true
		}
	}
}

// without takes a member out of those of an object, or of one inside it.
func without(members object, at splice.Pointer) {
	if len(at) == 1 {
		delete(members, at[0])
		return
	}
	member, _ := members[at[0]].(object)
	if inside, ok := member["properties"].(object); ok {
		without(inside, at[1:])
	}
}
