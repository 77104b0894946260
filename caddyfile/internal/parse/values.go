package parse

import (
	"fmt"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/bytesize"
)

// Duration reads the single argument of the current word as a duration of at least a second.
func Duration(d *caddyfile.Dispenser) (caddy.Duration, error) {
	return duration(d, false)
}

// DurationOrZero is [Duration] for a word whose duration may be 0.
func DurationOrZero(d *caddyfile.Dispenser) (caddy.Duration, error) {
	return duration(d, true)
}

func duration(d *caddyfile.Dispenser, zero bool) (caddy.Duration, error) {
	word := d.Val()
	value, err := Argument(d, "a duration such as 10s, 15m, 1h or 30d")
	if err != nil {
		return 0, err
	}
	return toDuration(d, word, value, zero)
}

// ToDuration converts the argument of a word to a duration of at least a second.
func ToDuration(d *caddyfile.Dispenser, word, value string) (caddy.Duration, error) {
	return toDuration(d, word, value, false)
}

func toDuration(d *caddyfile.Dispenser, word, value string, zero bool) (caddy.Duration, error) {
	parsed, err := caddy.ParseDuration(value)
	if err != nil || parsed < 0 || parsed == 0 && !zero {
		return 0, d.Errf("%s: invalid duration '%s', expected one such as 10s, 15m, 1h or 30d", word, value)
	}
	if parsed != 0 && parsed < time.Second {
		return 0, d.Errf("%s: '%s' is less than a second, expected 1s or more", word, value)
	}
	return caddy.Duration(parsed), nil
}

// Number reads the single argument of the current word as a whole number from 1.
func Number(d *caddyfile.Dispenser) (int, error) {
	return number(d, "a whole number from 1", 0)
}

// NumberUpTo reads the single argument of the current word as a whole number from 1 to most.
func NumberUpTo(d *caddyfile.Dispenser, most int) (int, error) {
	return number(d, fmt.Sprintf("a whole number from 1 to %d", most), most)
}

// number reads a whole number from 1 to most, or without an upper bound where most is 0.
func number(d *caddyfile.Dispenser, expected string, most int) (int, error) {
	word := d.Val()
	value, err := Argument(d, expected)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || most > 0 && n > most {
		return 0, d.Errf("%s: invalid number '%s', expected %s", word, value, expected)
	}
	return n, nil
}

// Count reads a whole number from 1 for a word that may be given once.
func Count(d *caddyfile.Dispenser, into *int) error {
	if err := Once(d, *into != 0); err != nil {
		return err
	}
	n, err := Number(d)
	*into = n
	return err
}

// Size reads a number of bytes for a word that may be given once.
func Size(d *caddyfile.Dispenser, into *int64) error {
	if err := Once(d, *into != 0); err != nil {
		return err
	}
	word := d.Val()
	value, err := Argument(d, "a size such as 512KiB or 1MiB")
	if err != nil {
		return err
	}
	if n, ok := bytesize.Parse(value); ok {
		*into = n
		return nil
	}
	return d.Errf("%s: invalid size '%s', expected one such as 512KiB or 1MiB", word, value)
}
