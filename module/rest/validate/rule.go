package validate

import "encoding/json"

// Rule is a constraint on a member of a request's body. `null` is as good as no member:
// it is refused where the member is required, and not judged otherwise.
type Rule struct {
	// The member: its name, or a JSON Pointer of one that is nested (`/author/name`), which
	// is judged where what it is nested in is there. `*` are all members that have no rule;
	// it goes with `readonly` alone.
	Field string `json:"field"`
	// The member must be there, except in a PATCH, which must not make it null.
	Required bool `json:"required,omitempty"`
	// The member must not be there.
	Readonly bool `json:"readonly,omitempty"`
	// The least and most characters (Unicode code points) of a text; a most of 0 is no
	// bound. Default: any number.
	Length *[2]int `json:"length,omitempty"`
	// The value must be a whole number, in digits.
	Integer bool `json:"integer,omitempty"`
	// The least value of a number. It is compared exactly, as 9007199254740993 shows.
	Min json.Number `json:"min,omitempty"`
	// The greatest value of a number.
	Max json.Number `json:"max,omitempty"`
	// The texts that are permitted, and numbers, true and false as they are written.
	Enum []string `json:"enum,omitempty"`
	// `date`, `date-time`, `email`, `uri` or `uuid`.
	Format string `json:"format,omitempty"`
	// A regular expression (RE2) that a text must match as a whole.
	Pattern string `json:"pattern,omitempty"`
}

// Schema is a JSON Schema, or the schema of a body in an OpenAPI 3.0 or 3.1 document,
// written as JSON. It may refer to other files beside it, and to no address.
//
// Members that it calls readOnly are refused. In a PATCH the members that it requires may
// be missing, on the outermost level.
type Schema struct {
	// The file.
	File string `json:"file,omitempty"`
	// JSON Pointer of the schema in it, such as `/components/schemas/Article`. Default: the
	// whole file.
	Pointer string `json:"pointer,omitempty"`
}
