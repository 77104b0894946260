package splice

import "cmp"

// Kind is the kind of a captured value.
type Kind uint8

// Kinds of values. Absent means that there was none.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Object
	Array
)

var kindNames = [...]string{"absent", "null", "bool", "number", "string", "object", "array"}

func (k Kind) String() string { return kindNames[k] }

// Scalar is a captured value.
type Scalar struct {
	Kind Kind
	// Text is a string decoded, or the bytes of a number, true, false or null.
	Text string
	// Long says that an Absent value was there, but longer than Config.MaxScalar.
	Long bool
	// Empty says that an object or array is empty.
	Empty bool
}

var kinds = [256]Kind{'{': Object, '[': Array, '"': String, 't': Bool, 'f': Bool, 'n': Null}

// kindOf returns the kind of the value that begins with c.
func kindOf(c byte) Kind { return cmp.Or(kinds[c], Number) }
