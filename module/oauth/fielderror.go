package oauth

import "fmt"

// FieldError says what is wrong with a client, and with which of its fields.
type FieldError struct {
	// Fields are names of the client's JSON, such as `redirect_uris`: the one to look at first, then
	// others that have to do with it.
	Fields []string
	Err    error
}

func (e *FieldError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *FieldError) Unwrap() error { return e.Err }

// about names the fields of an error.
type about []string

func (a about) errorf(format string, args ...any) error {
	return &FieldError{Fields: a, Err: fmt.Errorf(format, args...)}
}
