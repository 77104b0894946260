package splice

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Config declares the edits. Member names are the upstream's, decoded; repeated members are all edited.
type Config struct {
	// Root is the value that is passed on. Empty: the whole document.
	Root Pointer

	// List says that Root is an array, null (an empty array), or an object whose members are the elements.
	// The output is an array, and the edits apply to each element that is an object. Without List they
	// apply to Root, which must then be an object if there are any.
	List bool
	// Around passes on what stands around the list too. The outermost object is edited like an element then, apart from
	// Lift, DropAt and Append. Root must be an array inside it.
	Around bool
	// skip elements are left out, and at most take follow. take 0: all.
	skip, take int

	// Rename has the new names of members of the resource object. A member that already has the new name
	// of another one is dropped.
	Rename map[string]string
	// Values replaces scalars by strings, by member and the text of the scalar: "1" is the number 1 and
	// the string "1". Other values stay.
	Values map[string]map[string]string
	// Drop has the members that are left out, DropAt those of objects inside the resource object.
	Drop   []string
	DropAt []Pointer
	// Lift are values inside the resource object that become members of it.
	Lift []Lift

	// Any passes a Root that is not an object unchanged. Without it and with edits, that is ErrRoot.
	Any bool

	// Guard has names that no object may have besides those that are edited and what is inside elements of the list:
	// there the edits would be missed, which is ErrOutside. What is not passed on may have them.
	Guard []string

	// Seek has places inside the resource object. A text that has them further inside instead is ErrWrapped.
	Seek []Sought

	// ID is a place inside the resource object, captured for Append.
	ID Pointer
	// Append appends members (`"links":[],"x":1`, without a leading comma) at the end of each resource
	// object. The id is Absent if there is none.
	Append func(dst []byte, id Scalar) []byte

	// Capture has places in the whole document. Of repeated members the last one counts.
	Capture []Pointer

	// maxDepth is the greatest nesting of objects and arrays. Default: 128.
	maxDepth int
	// MaxScalar is the greatest length of a captured scalar in bytes. Default: 4096. A longer one is
	// Absent and Long, never cut.
	MaxScalar int
}

// edits reports whether resource objects are changed.
func (c *Config) edits() bool {
	return len(c.Rename) > 0 || len(c.Values) > 0 || len(c.Drop) > 0 || len(c.Lift) > 0 || len(c.DropAt) > 0 || c.Append != nil
}

func (c *Config) check() error {
	if !c.List && (c.skip != 0 || c.take != 0) {
		return fmt.Errorf("splice: skip and take are for a List")
	}
	if c.Around && (!c.List || len(c.Root) == 0 || c.skip+c.take != 0) {
		return fmt.Errorf("splice: Around is for a whole List inside an object")
	}
	for name, n := range map[string]int{"skip": c.skip, "take": c.take, "maxDepth": c.maxDepth, "MaxScalar": c.MaxScalar} {
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
	return c.checkPlaces(olds)
}

var (
	// ErrSyntax matches the errors that say where a text stops being JSON.
	ErrSyntax = errors.New("no JSON")
	// ErrIncomplete is returned for a text that ends too soon.
	ErrIncomplete = errors.New("the JSON text is not whole")
	// ErrRoot is returned for a text with no value of the declared kind at Config.Root, or with two.
	ErrRoot = errors.New("the declared value is not there, or not of the declared kind")
	// ErrDepth is returned for a text that is nested more deeply than maxDepth of the [Config].
	ErrDepth = errors.New("the JSON text is nested too deeply")
	// ErrOutside is returned for a name of Config.Guard outside the objects that are edited.
	ErrOutside = errors.New("drop, rename or values name a member that is in an object which they do not apply to; write list { items <pointer> } for the place of the elements, or list off if the response is one document")

	errTwice = fmt.Errorf("%w: it is declared twice", ErrRoot)
)

// syntaxError reports where a text stops being JSON (RFC 8259).
type syntaxError struct {
	offset   int64  // of the first wrong byte
	expected string // in its place
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("%v: at byte %d, expected %s", ErrSyntax, e.offset, e.expected)
}

// Is matches ErrSyntax.
func (e *syntaxError) Is(target error) bool { return target == ErrSyntax }
