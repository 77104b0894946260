package splice

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Defaults of Config.
const (
	DefaultMaxDepth  = 128
	DefaultMaxScalar = 4096
)

// Config declares the edits. Names of members are the sender's, decoded; a name that
// a text repeats is edited each time.
type Config struct {
	// Root is what of the document is passed on. Empty: all of it.
	Root Pointer

	// List says that Root is an array, null (the empty array), or an object whose
	// members' values are the elements. An array comes out. The edits below apply to
	// each element that is an object. Without List they apply to Root, which must
	// then be an object, unless there are none.
	List bool
	// Skip elements are passed over, and Take at most are passed on. Take 0: all.
	Skip, Take int

	// Rename has the new names of members of the resource object. A member that has a
	// new name already is dropped: the renamed one wins.
	Rename map[string]string
	// Values has, for a member, the strings that take the place of scalars. They are
	// found by their text: "1" is the number 1 and the string "1". Others stay.
	Values map[string]map[string]string
	// Drop are the members that are left out.
	Drop []string
	// Lift are values inside the resource object that become members of it.
	Lift []Lift
	// DropAt are members of objects inside the resource object that are left out.
	DropAt []Pointer

	// Any lets a Root that is no object pass as it is. Without it such a Root is none when there
	// are edits.
	Any bool

	// ID is a place inside the resource object, captured for Append.
	ID Pointer
	// Append appends members (`"links":[],"x":1`, without a comma around them) to dst
	// at the end of each resource object. The id is Absent when there is none.
	Append func(dst []byte, id Scalar) []byte

	// Capture are places in the whole document. Of a repeated member the last counts.
	Capture []Pointer

	// MaxDepth bounds the nesting of objects and arrays. Default: 128.
	MaxDepth int
	// MaxScalar bounds the bytes of a captured scalar. Default: 4096. A longer one is
	// Absent and Long, never cut.
	MaxScalar int
}

// edits reports whether a resource object is changed at all.
func (c *Config) edits() bool {
	return len(c.Rename) > 0 || len(c.Values) > 0 || len(c.Drop) > 0 || len(c.Lift) > 0 || len(c.DropAt) > 0 || c.Append != nil
}

func (c *Config) check() error {
	if !c.List && (c.Skip != 0 || c.Take != 0) {
		return fmt.Errorf("splice: Skip and Take are for a List")
	}
	for name, n := range map[string]int{"Skip": c.Skip, "Take": c.Take, "MaxDepth": c.MaxDepth, "MaxScalar": c.MaxScalar} {
		if n < 0 {
			return fmt.Errorf("splice: %s is %d, expected 0 or more", name, n)
		}
	}
	olds := map[string]string{}
	for old, name := range c.Rename {
		if !utf8.ValidString(name) {
			return fmt.Errorf("splice: the new name %q of '%s' is not UTF-8", name, old)
		}
		if other, ok := olds[name]; ok {
			return fmt.Errorf("splice: '%s' and '%s' are both renamed to '%s'", min(old, other), max(old, other), name)
		}
		olds[name] = old
		if slices.Contains(c.Drop, old) {
			return fmt.Errorf("splice: '%s' is both renamed and dropped", old)
		}
	}
	for name := range c.Values {
		if slices.Contains(c.Drop, name) {
			return fmt.Errorf("splice: '%s' has values and is dropped", name)
		}
		if old, ok := olds[name]; ok && old != name && c.Rename[name] == "" {
			return fmt.Errorf("splice: '%s' has values, and is dropped since '%s' is renamed to it", name, old)
		}
	}
	return c.checkPlaces()
}
