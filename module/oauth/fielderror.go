package oauth

import "fmt"

// FieldError says what is wrong with a client, and with which of its fields.
type FieldError struct {
	// Fields are names of the client's JSON, such as `redirect_uris`: the one to look at first, then
	// others that are involved. None where the client as a whole is wrong.
	Fields []string
	Err    error
}

func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// Field is the field to look at first, or "".
func (e *FieldError) Field() string {
	if len(e.Fields) == 0 {
		return ""
	}
	return e.Fields[0]
}

// about names the fields of an error.
type about []string

func (a about) errorf(format string, args ...any) error {
	return &FieldError{Fields: a, Err: fmt.Errorf(format, args...)}
}
