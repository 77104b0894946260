package parse

import (
	"fmt"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/bytesize"
)

const durationForm = "a duration such as 10s, 15m, 1h or 30d"

// Duration reads the single argument of the current word as a duration of at least a second.
func Duration[T ~int64](d *caddyfile.Dispenser) (T, error) {
	word := d.Val()
	value, err := Argument(durationForm)(d)
	if err != nil {
		return 0, err
	}
	return ToDuration[T](d, word, value)
}

// DurationOrZero is [Duration] for a word whose duration may be 0.
func DurationOrZero(d *caddyfile.Dispenser) (*caddy.Duration, error) {
	word := d.Val()
	value, err := Argument(durationForm)(d)
	if zero, invalid := caddy.ParseDuration(value); err != nil || invalid == nil && zero == 0 {
		return new(caddy.Duration), err
	}
	parsed, err := ToDuration[caddy.Duration](d, word, value)
	return &parsed, err
}

// ToDuration converts the argument of a word to a duration of at least a second.
func ToDuration[T ~int64](d *caddyfile.Dispenser, word, value string) (T, error) {
	parsed, err := caddy.ParseDuration(value)
	if err != nil || parsed <= 0 {
		return 0, d.Errf("%s: invalid duration '%s', expected one such as 10s, 15m, 1h or 30d", word, value)
	}
	if parsed < time.Second {
		return 0, d.Errf("%s: '%s' is less than a second, expected 1s or more", word, value)
	}
	return T(parsed), nil
}

// Number reads the single argument of the current word as a whole number from 1.
func Number(d *caddyfile.Dispenser) (int, error) { return NumberUpTo(0)(d) }

// NumberUpTo reads the single argument of the current word as a whole number from 1 to most; 0 is no bound.
func NumberUpTo(most int) Reader[int] {
	expected := "a whole number from 1"
	if most > 0 {
		expected = fmt.Sprintf("%s to %d", expected, most)
	}
	return func(d *caddyfile.Dispenser) (int, error) {
		word := d.Val()
		value, err := Argument(expected)(d)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || most > 0 && n > most {
			return 0, d.Errf("%s: invalid number '%s', expected %s", word, value, expected)
		}
		return n, nil
	}
}

// Size reads the single argument of the current word as a number of bytes.
func Size(d *caddyfile.Dispenser) (int64, error) {
	word := d.Val()
	value, err := Argument("a size such as 512KiB or 1MiB")(d)
	if err != nil {
		return 0, err
	}
	if n, ok := bytesize.Parse(value); ok {
		return n, nil
	}
	return 0, d.Errf("%s: invalid size '%s', expected one such as 512KiB or 1MiB", word, value)
}
