package splice

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// An edit in the same chunk must not flush what was buffered, either.
func TestErrorDoesNotFlushBufferedOutput(t *testing.T) {
	p, err := Compile(Config{Rename: map[string]string{"n": "name"}, Lift: []Lift{{Name: "text", From: Pointer{"content", "rendered"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	e := p.New(&out)
	if _, err := e.Write([]byte(`{"n":"x","content":{"rendered":"` + strings.Repeat("x", 2*maxLifted))); !errors.Is(err, ErrLifted) || out.Len() > 0 {
		t.Errorf("%v after %d bytes", err, out.Len())
	}
}

// The part of the text in which the bound is exceeded is not passed on: who holds back as much as maxLifted can still
// answer otherwise.
func TestNothingIsEmittedAfterAnError(t *testing.T) {
	p, err := Compile(Config{Lift: []Lift{{Name: "text", From: Pointer{"content", "rendered"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	e := p.New(&out)
	text := `{"content":{"rendered":"` + strings.Repeat("x", 2*maxLifted)
	for len(text) > 0 {
		n := min(len(text), 32<<10)
		if _, err = e.Write([]byte(text[:n])); err != nil {
			break
		}
		text = text[n:]
	}
	if !errors.Is(err, ErrLifted) || out.Len() > maxLifted {
		t.Errorf("%v after %d bytes", err, out.Len())
	}
}
