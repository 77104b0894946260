package resource

import (
	"fmt"
	"net/http"
	"slices"
)

// Conventions that a resource follows unless it turns them off.
const (
	ConventionList    = "list"
	ConventionCreated = "created"
	ConventionDeleted = "deleted"
	ConventionBatch   = "batch"
)

// Follows reports whether a convention is not turned off.
func (r *Resource) Follows(convention string) bool { return !slices.Contains(r.Off, convention) }

// checkOff refuses unknown conventions, and those that are both declared and turned off.
func (r *Resource) checkOff() error {
	declared := map[string]bool{
		ConventionList: r.List != nil, ConventionCreated: r.Created != nil, ConventionDeleted: r.Deleted != 0, ConventionBatch: len(r.Batch) > 0 || r.BatchMax != 0,
	}
	for i, word := range r.Off {
		switch is, known := declared[word]; {
		case !known:
			return fmt.Errorf("off %s: expected list, created, deleted or batch", word)
		case slices.Contains(r.Off[:i], word):
			return fmt.Errorf("%s off is given twice", word)
		case is:
			return fmt.Errorf("%s off: it is also declared, expected one of both", word)
		}
	}
	return nil
}

// IsConventional reports whether the resource declares nothing about the upstream's requests and
// answers: the upstream has the conventional paths, and is assumed to know the conventions.
func (r *Resource) IsConventional() bool {
	return len(r.Routes) == 0 && r.List == nil && r.Item == "" && len(r.ItemOf) == 0 && r.ID == "" && len(r.Rename) == 0 && len(r.Lift) == 0 && len(r.Drop) == 0 && r.Wrap == "" && len(r.Values) == 0 &&
		len(r.Replace) == 0 && len(r.Links) == 0 && len(r.Validate) == 0 && r.Schema == nil && len(r.Query) == 0
}

// CreatedStatus returns the status of a successful creation, 0 for the upstream's own, and whether it
// is declared for every creation.
func (r *Resource) CreatedStatus() (status int, declared bool) {
	switch {
	case r.Created != nil:
		return r.Created.Status, true
	case r.Follows(ConventionCreated):
		return http.StatusCreated, false
	}
	return 0, false
}

// DeletedStatus returns the same for a deletion.
func (r *Resource) DeletedStatus() (status int, declared bool) {
	switch {
	case r.Deleted != 0:
		return r.Deleted, true
	case r.Follows(ConventionDeleted):
		return http.StatusNoContent, false
	}
	return 0, false
}

// Kind is what a request does: a closed set, usable as a metric's label.
type Kind string

const (
	List    Kind = "list"
	Read    Kind = "read"
	Create  Kind = "create"
	Replace Kind = "replace"
	Update  Kind = "update"
	Delete  Kind = "delete"
	Batch   Kind = "batch"
	Action  Kind = "action" // any other
)

// Kinds lists all kinds.
var Kinds = []Kind{List, Read, Create, Replace, Update, Delete, Batch, Action}

// AnsweredKinds are the kinds of operations that an upstream answers. The gateway answers batches
// itself.
var AnsweredKinds = []Kind{List, Read, Create, Replace, Update, Delete, Action}
