package batch

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Group are the items of one resource: one change.
type Group struct {
	ID    string
	Items []int // in their order
	// Body is the change as a PATCH of the resource has it, in our names. What is removed
	// is null there (RFC 7396). Of several items for one member the last counts.
	Body []byte

	from    map[string]int // member -> the item that counts
	removed map[string]bool
}

// Item is where in the batch a refusal of the group's body stands: field is a member of
// it, and what follows it a place in its value.
func (g Group) Item(field string) string {
	name, rest, inside := field, "", false
	i, ok := g.from[name]
	if !ok {
		name, rest, inside = strings.Cut(field, "/")
		i, ok = g.from[name]
	}
	switch {
	case !ok:
		return "/" + strconv.Itoa(g.Items[0])
	case g.removed[name]:
		return At(i, "path")
	case inside:
		rest = "/" + rest
	}
	return At(i, "value") + rest
}

// Groups puts items together by their ids, in the order in which an id first occurs.
func Groups(items []Item) []Group {
	var groups []Group
	at := make(map[string]int)
	for i, item := range items {
		n, ok := at[item.ID]
		if !ok {
			n = len(groups)
			at[item.ID] = n
			groups = append(groups, Group{ID: item.ID, from: make(map[string]int), removed: make(map[string]bool)})
		}
		groups[n].Items = append(groups[n].Items, i)
		groups[n].from[item.Field], groups[n].removed[item.Field] = i, item.removes
	}
	for n := range groups {
		groups[n].Body = groups[n].body(items)
	}
	return groups
}

// body has the members in the order in which they were last set.
func (g Group) body(items []Item) []byte {
	b := []byte{'{'}
	for _, i := range g.Items {
		if g.from[items[i].Field] != i {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		name, _ := json.Marshal(items[i].Field) // a string always marshals
		b = append(append(append(b, name...), ':'), items[i].Value...)
	}
	return append(b, '}')
}
