package resource

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// itemKinds are the kinds of operations whose answers contain a resource.
var itemKinds = []Kind{Read, Create, Replace, Update, Delete, Action}

// ItemPointer returns where the resource is in answers to a kind of operation.
func (r *Resource) ItemPointer(k Kind) string {
	if at, ok := r.ItemOf[k]; ok {
		return at
	}
	return r.Item
}

// DeclaresItem reports whether it is declared where the resource is in answers to a kind of operation, if only that it is
// the answer.
func (r *Resource) DeclaresItem(k Kind) bool {
	_, ok := r.ItemOf[k]
	return ok || r.Item != ""
}

// IDPointer returns where the id is in a resource.
func (r *Resource) IDPointer() string { return cmp.Or(r.ID, "/id") }

// CreatedPointer returns where the id of a new resource is in the answer to its creation.
func (r *Resource) CreatedPointer() string {
	if r.Created != nil && r.Created.ID != "" {
		return r.Created.ID
	}
	return r.ItemPointer(Create) + r.IDPointer()
}

// ItemPointers parses where the resource is in the answers to each kind of operation. A kind for which nothing is
// declared may be missing: all of the answer is the resource.
func (r *Resource) ItemPointers() (map[Kind]splice.Pointer, error) {
	if r.Item == "" && len(r.ItemOf) == 0 {
		return nil, nil
	}
	at := make(map[Kind]splice.Pointer)
	for _, k := range Kinds {
		p, err := splice.ParsePointer(r.ItemPointer(k))
		if err != nil && r.ItemOf[k] != "" {
			return nil, fmt.Errorf("item %s: %w", k, err)
		}
		if err != nil {
			return nil, fmt.Errorf("item: %w", err)
		}
		at[k] = p
	}
	for _, k := range slices.Sorted(maps.Keys(r.ItemOf)) {
		if !slices.Contains(itemKinds, k) {
			return nil, fmt.Errorf("item %s: expected read, create, replace, update, delete or action", k)
		}
	}
	return at, nil
}

// IsPointer reports whether a JSON Pointer is given where the name of a member is expected.
func IsPointer(theirs string) bool { return strings.HasPrefix(theirs, "/") }
