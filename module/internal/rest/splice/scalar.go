package splice

// Kind is the kind of a captured value.
type Kind uint8

// Kinds of values. Absent is one that was not there.
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
	// Long says of an Absent one that it was there, with more bytes than
	// Config.MaxScalar.
	Long bool
	// Empty says of an object or array that nothing is in it.
	Empty bool
}

func kindOf(c byte) Kind {
	switch c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}
