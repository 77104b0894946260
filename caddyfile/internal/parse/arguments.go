package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/spelling"
)

// Position returns the file and line of the current word, and the imports that led there.
func Position(d *caddyfile.Dispenser) string {
	return strings.TrimPrefix(d.Err("").Error(), ", at ")
}

// ErrorAt adds the position of an earlier token to an error, in the form of Caddy's own errors.
func ErrorAt(t caddyfile.Token, err error) error {
	return fmt.Errorf("%w, at %s:%d", err, t.File, t.Line)
}

// UnknownWord is the error for a word that place does not know.
func UnknownWord(d *caddyfile.Dispenser, place string, known ...string) error {
	return d.Errf("unrecognized word '%s' in %s%s, expected one of: %s", d.Val(), place, spelling.Suggest(d.Val(), known), strings.Join(slices.Sorted(slices.Values(known)), ", "))
}

// Once refuses a second value for a word that takes one; set says that there is one already.
func Once(d *caddyfile.Dispenser, set bool) error {
	if set {
		return d.Errf("%s is given twice", d.Val())
	}
	return nil
}

// Flag reads a word that has no arguments, and sets its flag.
func Flag(d *caddyfile.Dispenser, set *bool) error {
	if err := Once(d, *set); err != nil {
		return err
	}
	*set = true
	word := d.Val()
	if d.NextArg() {
		return d.Errf("%s: unexpected argument '%s', expected none", word, d.Val())
	}
	return nil
}

// Argument reads the single argument of the current word.
func Argument(d *caddyfile.Dispenser, expected string) (string, error) {
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

// Arguments reads the arguments of the current word, at least one.
func Arguments(d *caddyfile.Dispenser, expected string) ([]string, error) {
	word := d.Val()
	values := d.RemainingArgs()
	if len(values) == 0 {
		return nil, d.Errf("%s: expected %s", word, expected)
	}
	return values, nil
}

// LiteralArguments is [Arguments] without Caddy's expansion of shorthands.
func LiteralArguments(d *caddyfile.Dispenser, expected string) ([]string, error) {
	values, err := Arguments(d, expected)
	for i, v := range values {
		values[i] = UndoShorthands(v)
	}
	return values, err
}

// Text reads the single argument of a word that may be given once, without Caddy's expansion
// of shorthands.
func Text(d *caddyfile.Dispenser, into *string, expected string) error {
	if err := Once(d, *into != ""); err != nil {
		return err
	}
	word := d.Val()
	value, err := Argument(d, expected)
	if err != nil {
		return err
	}
	if *into = UndoShorthands(value); *into == "" {
		return d.Errf("%s: expected %s", word, expected)
	}
	return nil
}

// Choice reads one of several values for a word that may be given once.
func Choice(d *caddyfile.Dispenser, into *string, known ...string) error {
	word := d.Val()
	expected := known[len(known)-1]
	if others := known[:len(known)-1]; len(others) > 0 {
		expected = strings.Join(others, ", ") + " or " + expected
	}
	if err := Text(d, into, expected); err != nil {
		return err
	}
	if !slices.Contains(known, *into) {
		return d.Errf("%s: unexpected '%s', expected %s", word, *into, expected)
	}
	return nil
}
