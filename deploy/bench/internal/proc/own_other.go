//go:build !unix

package proc

import (
	"errors"
	"time"
)

// Own is an error: this system has no such figure.
func Own() (time.Duration, error) { return 0, errors.ErrUnsupported }
