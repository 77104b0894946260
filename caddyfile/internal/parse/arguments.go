package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Position returns the file and line of the current word, and the imports that led there.
func Position(d *caddyfile.Dispenser) string {
	return strings.TrimPrefix(d.Err("").Error(), ", at ")
}

// ErrorAt adds the position of an earlier token to an error, in the form of Caddy's own errors.
func ErrorAt(t caddyfile.Token, err error) error {
	return fmt.Errorf("%w, at %s:%d", err, t.File, t.Line)
}

// CheckOnce refuses a second value for a word that takes one; set says that there is one already.
func CheckOnce(d *caddyfile.Dispenser, set bool) error {
	if set {
		return d.Errf("%s is given twice", d.Val())
	}
	return nil
}

// Argument reads the single argument of the current word.
func Argument(expected string) Reader[string] {
	return func(d *caddyfile.Dispenser) (string, error) {
		word := d.Val()
		if !d.NextArg() {
			return "", d.Errf("%s: expected %s", word, expected)
		}
		value := d.Val()
		if d.NextArg() {
			return "", d.Errf("%s: unexpected argument '%s', expected only %s", word, d.Val(), expected)
		}
		return value, nil
	}
}

// Arguments reads the arguments of the current word, at least one.
func Arguments(expected string) Reader[[]string] {
	return func(d *caddyfile.Dispenser) ([]string, error) {
		word := d.Val()
		values := d.RemainingArgs()
		if len(values) == 0 {
			return nil, d.Errf("%s: expected %s", word, expected)
		}
		return values, nil
	}
}

// LiteralArguments is [Arguments] without Caddy's expansion of shorthands.
func LiteralArguments(expected string) Reader[[]string] {
	return func(d *caddyfile.Dispenser) ([]string, error) {
		values, err := Arguments(expected)(d)
		for i, v := range values {
			values[i] = UndoShorthands(v)
		}
		return values, err
	}
}

// Text reads the single argument of the current word, which is not empty, without Caddy's
// expansion of shorthands.
func Text(expected string) Reader[string] {
	return func(d *caddyfile.Dispenser) (string, error) {
		word := d.Val()
		value, err := Argument(expected)(d)
		if value = UndoShorthands(value); err == nil && value == "" {
			err = d.Errf("%s: expected %s", word, expected)
		}
		return value, err
	}
}

// Choice reads one of several values.
func Choice(known ...string) Reader[string] {
	last := len(known) - 1
	expected := known[last]
	if last > 0 {
		expected = strings.Join(known[:last], ", ") + " or " + expected
	}
	return oneOf(known, expected, Text(expected))
}

// Either is [Choice] with "or" between all values in its errors.
func Either(known ...string) Reader[string] {
	expected := strings.Join(known, " or ")
	return oneOf(known, expected, Argument(expected))
}

func oneOf(known []string, expected string, read Reader[string]) Reader[string] {
	return func(d *caddyfile.Dispenser) (string, error) {
		word := d.Val()
		value, err := read(d)
		if err == nil && !slices.Contains(known, value) {
			err = d.Errf("%s: unexpected '%s', expected %s", word, value, expected)
		}
		return value, err
	}
}
