package splice

import (
	"errors"
	"fmt"
)

var (
	// ErrSyntax is matched by a *SyntaxError.
	ErrSyntax = errors.New("no JSON")
	// ErrIncomplete is a text that ends before its value does.
	ErrIncomplete = errors.New("the JSON text is not whole")
	// ErrRoot is a text without a value of the right kind at Config.Root, or with two.
	ErrRoot = errors.New("the declared value is not there, or not of the declared kind")
	// ErrDepth is a text that is nested deeper than Config.MaxDepth.
	ErrDepth = errors.New("the JSON text is nested too deeply")

	errTwice = fmt.Errorf("%w: it is there twice", ErrRoot)
)

// SyntaxError tells where a text stops being JSON (RFC 8259).
type SyntaxError struct {
	Offset   int64  // of the first wrong byte
	Expected string // in its place
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%v: at byte %d, expected %s", ErrSyntax, e.Offset, e.Expected)
}

// Is makes it an ErrSyntax.
func (e *SyntaxError) Is(target error) bool { return target == ErrSyntax }
