package splice

import (
	"errors"
	"fmt"
)

var (
	// ErrSyntax matches every *SyntaxError.
	ErrSyntax = errors.New("no JSON")
	// ErrIncomplete is returned for a text that ends too soon.
	ErrIncomplete = errors.New("the JSON text is not whole")
	// ErrRoot is returned for a text with no value of the declared kind at Config.Root, or with two.
	ErrRoot = errors.New("the declared value is not there, or not of the declared kind")
	// ErrDepth is returned for a text that is nested more deeply than Config.MaxDepth.
	ErrDepth = errors.New("the JSON text is nested too deeply")

	errTwice = fmt.Errorf("%w: it is there twice", ErrRoot)
)

// SyntaxError reports where a text stops being JSON (RFC 8259).
type SyntaxError struct {
	Offset   int64  // of the first wrong byte
	Expected string // in its place
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v: at byte %d, expected %s", ErrSyntax, e.Offset, e.Expected)
}

// Is matches ErrSyntax.
func (e *SyntaxError) Is(target error) bool { return target == ErrSyntax }
