package store

import (
	"bytes"
	"testing"
)

func TestNewSecretIsLongSingleLineText(t *testing.T) {
	a, b := NewSecret(), NewSecret()
	if len(a) < MinSecretLength || bytes.ContainsAny(a, "\r\n \"{}") || bytes.Equal(a, b) {
		t.Errorf("NewSecret gave %d bytes; two are equal: %v", len(a), bytes.Equal(a, b))
	}
}
