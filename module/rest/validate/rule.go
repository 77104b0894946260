package validate

import "encoding/json"

// Rule is a constraint on a member of a request's body. `null` counts as absent: it is refused
// if the member is required, and otherwise not checked.
type Rule struct {
	// The member: its name, or the JSON Pointer of a nested one (`/author/name`), which is
	// checked if the object around it is present. `*` stands for all members without a rule, also
	// inside an object if a rule names one of its members, and can only be combined with `readonly`.
	Field string `json:"field"`
	// The member must be present, except in a PATCH, which must not set it to null.
	Required bool `json:"required,omitempty"`
	// The member must be absent.
	Readonly bool `json:"readonly,omitempty"`
	// The minimum and maximum length of a text in Unicode code points; a maximum of 0 is no
	// bound. Default: any length.
	Length *[2]int `json:"length,omitempty"`
	// The value must be a whole number, in digits.
	Integer bool `json:"integer,omitempty"`
	// The minimum of a number. The comparison is exact, even for 9007199254740993. Default: no bound.
	Min json.Number `json:"min,omitempty"`
	// The maximum of a number. Default: no bound.
	Max json.Number `json:"max,omitempty"`
	// The permitted texts. Numbers, true and false are compared as they are written. Default: any value.
	Enum []string `json:"enum,omitempty"`
	// `date`, `date-time`, `email`, `uri` or `uuid`. Default: any text.
	Format string `json:"format,omitempty"`
	// A regular expression (RE2) that the whole text must match. Default: any text.
	Pattern string `json:"pattern,omitempty"`
}

// Constrains reports whether the rule forbids some value of the member, or the member.
func (r *Rule) Constrains() bool {
	return r.Readonly || r.Length != nil || r.Integer || r.Min != "" || r.Max != "" || r.Enum != nil || r.Format != "" || r.Pattern != ""
}

// Schema is a JSON Schema, or the schema of a body in an OpenAPI 3.0 or 3.1 document, written as
// JSON. It may refer to other files next to it, but not to URLs.
//
// Members that it marks as readOnly are refused. In a PATCH, required members of the outermost
// level may be missing.
type Schema struct {
	// The file with the JSON Schema or the OpenAPI document. Required.
	File string `json:"file,omitempty"`
	// JSON Pointer to the schema in the file, such as `/components/schemas/Article`. Default:
	// the whole file.
	Pointer string `json:"pointer,omitempty"`
}
