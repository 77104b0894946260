package caddyfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/spelling"
)

// position returns file and line of the current word, and the imports that led there.
func position(d *caddyfile.Dispenser) string {
	return strings.TrimPrefix(d.Err("").Error(), ", at ")
}

// once refuses a second value for a word that takes one.
func once(d *caddyfile.Dispenser, set bool) error {
	if set {
		return d.Errf("%s is given twice", d.Val())
	}
	return nil
}

// one reads the single argument of the current word.
func one(d *caddyfile.Dispenser, expected string) (string, error) {
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

// flag reads a word that stands alone, and sets what it stands for.
func flag(d *caddyfile.Dispenser, set *bool) error {
	if err := once(d, *set); err != nil {
		return err
	}
	*set = true
	word := d.Val()
	if d.NextArg() {
		return d.Errf("%s: unexpected argument '%s', expected none", word, d.Val())
	}
	return nil
}

// some reads the arguments of the current word, at least one.
func some(d *caddyfile.Dispenser, expected string) ([]string, error) {
	word := d.Val()
	values := d.RemainingArgs()
	if len(values) == 0 {
		return nil, d.Errf("%s: expected %s", word, expected)
	}
	return values, nil
}

// duration reads the single argument of the current word as a duration.
func duration(d *caddyfile.Dispenser, zero bool) (caddy.Duration, error) {
	word := d.Val()
	value, err := one(d, "a duration such as 10s, 15m, 1h or 30d")
	if err != nil {
		return 0, err
	}
	return parseDuration(d, word, value, zero)
}

func parseDuration(d *caddyfile.Dispenser, word, value string, zero bool) (caddy.Duration, error) {
	parsed, err := caddy.ParseDuration(value)
	if err != nil || parsed < 0 || parsed == 0 && !zero {
		return 0, d.Errf("%s: invalid duration '%s', expected one such as 10s, 15m, 1h or 30d", word, value)
	}
	if parsed != 0 && parsed < time.Second {
		return 0, d.Errf("%s: '%s' is less than a second, expected 1s or more", word, value)
	}
	return caddy.Duration(parsed), nil
}

// number reads the single argument of the current word as a whole number from 1.
func number(d *caddyfile.Dispenser) (int, error) {
	word := d.Val()
	value, err := one(d, "a whole number from 1")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, d.Errf("%s: invalid number '%s', expected a whole number from 1", word, value)
	}
	return n, nil
}

// numberTo reads the single argument of the current word as a whole number from 1 to most.
func numberTo(d *caddyfile.Dispenser, most int) (int, error) {
	word, expected := d.Val(), fmt.Sprintf("a whole number from 1 to %d", most)
	value, err := one(d, expected)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return 0, d.Errf("%s: invalid number '%s', expected %s", word, value, expected)
	}
	return n, nil
}

// unknown is the error for a word that has no meaning in its place.
func unknown(d *caddyfile.Dispenser, place string, known ...string) error {
	return d.Errf("unrecognized word '%s' in %s%s, expected one of: %s", d.Val(), place, spelling.Suggest(d.Val(), known), strings.Join(slices.Sorted(slices.Values(known)), ", "))
}

// at gives an error the place of an earlier token, in the form of Caddy's own errors.
func at(t caddyfile.Token, err error) error {
	return fmt.Errorf("%w, at %s:%d", err, t.File, t.Line)
}
