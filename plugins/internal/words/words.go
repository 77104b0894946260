package words

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/bytesize"
	"github.com/gatehouse/gatehouse/caddyfile/spelling"
)

// Reader reads what stands behind a word.
type Reader func(d *caddyfile.Dispenser, word string) error

// Block reads a block of these words, each at most once but for those in repeated. place
// is what errors call it, such as "the LDAP directory".
func Block(d *caddyfile.Dispenser, place string, known map[string]Reader, repeated ...string) error {
	seen := make(map[string]bool)
	for d.NextBlock(0) {
		word := d.Val()
		read := known[word]
		if read == nil {
			words := slices.Sorted(maps.Keys(known))
			return d.Errf("unrecognized word '%s' in %s%s, expected one of: %s", word, place, spelling.Suggest(word, words), strings.Join(words, ", "))
		}
		if seen[word] && !slices.Contains(repeated, word) {
			return d.Errf("%s is given twice", word)
		}
		seen[word] = true
		if err := read(d, word); err != nil {
			return err
		}
	}
	return nil
}

// Text reads one value.
func Text(into *string) Reader {
	return func(d *caddyfile.Dispenser, word string) (err error) {
		*into, err = oneArgument(d, word)
		return err
	}
}

// Secret reads one value that must be a placeholder; name is that of an environment
// variable, for the error.
func Secret(into *string, name string) Reader {
	return func(d *caddyfile.Dispenser, word string) error {
		value, err := oneArgument(d, word)
		if err != nil {
			return err
		}
		if err := Placeholder(value, name); err != nil {
			return d.Errf("%s: %w", word, err)
		}
		*into = value
		return nil
	}
}

// Placeholder refuses a literal where a secret belongs, without quoting it.
func Placeholder(value, name string) error {
	if strings.Contains(value, "{") && strings.Contains(value, "}") {
		return nil
	}
	return errors.New("expected a placeholder such as {env." + name + "}: a literal would be readable in Caddy's stored configuration")
}

// Duration reads one that is longer than nothing.
func Duration(into *caddy.Duration) Reader {
	return func(d *caddyfile.Dispenser, word string) error {
		value, err := oneArgument(d, word)
		if err != nil {
			return err
		}
		parsed, err := caddy.ParseDuration(value)
		if err != nil || parsed <= 0 {
			return d.Errf("%s: invalid duration '%s', expected one such as 3s", word, value)
		}
		*into = caddy.Duration(parsed)
		return nil
	}
}

// Number reads a whole number from 1.
func Number(into *int) Reader {
	return func(d *caddyfile.Dispenser, word string) error {
		value, err := oneArgument(d, word)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return d.Errf("%s: invalid number '%s', expected a whole number from 1", word, value)
		}
		*into = n
		return nil
	}
}

// Size reads a number of bytes from 1.
func Size(into *int64) Reader {
	return func(d *caddyfile.Dispenser, word string) error {
		value, err := oneArgument(d, word)
		if err != nil {
			return err
		}
		n, ok := bytesize.Parse(value)
		if !ok {
			return d.Errf("%s: invalid size '%s', expected one such as 256MiB", word, value)
		}
		*into = n
		return nil
	}
}

// Flag reads a word that stands alone.
func Flag(into *bool) Reader {
	return func(d *caddyfile.Dispenser, _ string) error {
		if d.NextArg() {
			return d.ArgErr()
		}
		*into = true
		return nil
	}
}

func oneArgument(d *caddyfile.Dispenser, word string) (string, error) {
	var value string
	if !d.AllArgs(&value) || value == "" {
		return "", d.Errf("%s: expected one value, in quotes if it has spaces", word)
	}
	return value, nil
}
