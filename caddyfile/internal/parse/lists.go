package parse

import (
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Each returns the word of a list: it has one or more values on a line and may be repeated.
// add is called with the dispenser on each value, which it is given without Caddy's expansion
// of shorthands.
func Each(expected string, add func(d *caddyfile.Dispenser, word, value string) error) Word {
	return func(d *caddyfile.Dispenser) error {
		word := d.Val()
		if !d.NextArg() {
			return d.Errf("%s: expected %s", word, expected)
		}
		for ok := true; ok; ok = d.NextArg() {
			if err := add(d, word, UndoShorthands(d.Val())); err != nil {
				return err
			}
		}
		return nil
	}
}

// Check reports what is wrong with a value of a list, on which the dispenser stands.
type Check = func(d *caddyfile.Dispenser, word, value string) error

// List returns the word of a list of texts, each of which it may have once.
func List(to *[]string, expected string, checks ...Check) Word {
	return Each(expected, func(d *caddyfile.Dispenser, word, value string) error {
		for _, check := range checks {
			if err := check(d, word, value); err != nil {
				return err
			}
		}
		if slices.Contains(*to, value) {
			return d.Errf("%s: %s is given twice", word, value)
		}
		*to = append(*to, value)
		return nil
	})
}
