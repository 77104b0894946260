package parse

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/spelling"
)

// Word reads what follows a word of the Caddyfile, on which the dispenser stands.
type Word = func(*caddyfile.Dispenser) error

// Reader reads the value of a word.
type Reader[T any] = func(*caddyfile.Dispenser) (T, error)

// Words are the words of a block.
type Words map[string]Word

// Read reads the current word of a block, or refuses one that is unknown. place is what errors
// call the block.
func (w Words) Read(d *caddyfile.Dispenser, place string) error {
	if read := w[d.Val()]; read != nil {
		return read(d)
	}
	known := slices.Sorted(maps.Keys(w))
	return d.Errf("unrecognized word '%s' in %s%s, expected one of: %s", d.Val(), place, spelling.Suggest(d.Val(), known), strings.Join(known, ", "))
}

// ReadBlock reads the words of the block behind the current word, if there is one.
func (w Words) ReadBlock(d *caddyfile.Dispenser, place string) error {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if err := w.Read(d, place); err != nil {
			return err
		}
	}
	return nil
}

// Section returns a word that has a block with these words.
func (w Words) Section() Word {
	return func(d *caddyfile.Dispenser) error {
		name := d.Val()
		if d.NextArg() {
			return d.Errf("%s: unexpected argument '%s', expected a block", name, d.Val())
		}
		return w.ReadBlock(d, name)
	}
}

// Once returns a word that sets a value unless it has been set before.
func Once[T any](to *T, read Reader[T]) Word {
	return func(d *caddyfile.Dispenser) (err error) {
		if err := CheckOnce(d, !reflect.ValueOf(to).Elem().IsZero()); err != nil {
			return err
		}
		*to, err = read(d)
		return err
	}
}

// Append returns a word that may be repeated, and each time adds what its line says.
func Append[T any](to *[]T, read Reader[T]) Word {
	return func(d *caddyfile.Dispenser) error {
		value, err := read(d)
		*to = append(*to, value)
		return err
	}
}

// Flag returns a word without arguments, which sets a flag and may be given once.
func Flag(to *bool) Word {
	return Once(to, func(d *caddyfile.Dispenser) (bool, error) {
		word := d.Val()
		if d.NextArg() {
			return false, d.Errf("%s: unexpected argument '%s', expected none", word, d.Val())
		}
		return true, nil
	})
}
