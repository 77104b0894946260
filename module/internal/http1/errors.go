package http1

import (
	"errors"
	"fmt"
)

// ErrMalformed is the cause of errors of answers that are not valid HTTP/1.1.
var ErrMalformed = errors.New("malformed response")

// malformed returns an error that says what is wrong with an answer.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// DialError says that there is no connection to the server, which therefore has seen nothing of
// the request.
type DialError struct{ Err error }

func (e *DialError) Error() string { return e.Err.Error() }
func (e *DialError) Unwrap() error { return e.Err }

// RequestError says that the request has something that HTTP/1.1 cannot carry. Nothing of it was sent.
type RequestError struct{ text string }

func (e *RequestError) Error() string { return e.text }

// unsendable returns an error that says what is wrong with a request.
func unsendable(format string, args ...any) error {
	return &RequestError{fmt.Sprintf(format, args...)}
}

// BodyError says that the body of the request could not be read from its sender.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return "reading the request body: " + e.Err.Error() }
func (e *BodyError) Unwrap() error { return e.Err }
