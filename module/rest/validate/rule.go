package validate

// Rule is a constraint on a member of a request's body.
type Rule struct {
	// The member.
	Field string `json:"field"`
	// The member must be there, except in a PATCH.
	Required bool `json:"required,omitempty"`
	// The least and most characters (Unicode code points) of a text. Default: any number.
	Length *[2]int `json:"length,omitempty"`
	// The value must be a whole number.
	Integer bool `json:"integer,omitempty"`
	// The least value of a number.
	Min *float64 `json:"min,omitempty"`
	// The greatest value of a number.
	Max *float64 `json:"max,omitempty"`
	// The texts, or numbers as texts, that are permitted.
	Enum []string `json:"enum,omitempty"`
	// `date`, `date-time`, `email`, `uri` or `uuid`.
	Format string `json:"format,omitempty"`
	// A regular expression (RE2) that a text must match as a whole.
	Pattern string `json:"pattern,omitempty"`
}

// Schema is a JSON Schema, or the schema of a request body in an OpenAPI document.
type Schema struct {
	// The file.
	File string `json:"file,omitempty"`
	// JSON Pointer of the schema in it. Default: the whole file.
	Pointer string `json:"pointer,omitempty"`
}
