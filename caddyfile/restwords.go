package caddyfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/bytesize"
)

var (
	vendorName  = regexp.MustCompile(`^[a-z][a-z0-9-]*(\.[a-z0-9-]+)*$`)
	versionName = regexp.MustCompile(`^v[1-9][0-9]*$`)
)

// text reads the single argument of a word that is given once.
func text(d *caddyfile.Dispenser, into *string, expected string) error {
	if err := once(d, *into != ""); err != nil {
		return err
	}
	word := d.Val()
	value, err := one(d, expected)
	if err != nil {
		return err
	}
	if *into = short(value); *into == "" {
		return d.Errf("%s: expected %s", word, expected)
	}
	return nil
}

// choice reads one of several words.
func choice(d *caddyfile.Dispenser, into *string, known ...string) error {
	word := d.Val()
	expected := known[len(known)-1]
	if others := known[:len(known)-1]; len(others) > 0 {
		expected = strings.Join(others, ", ") + " or " + expected
	}
	if err := text(d, into, expected); err != nil {
		return err
	}
	if !slices.Contains(known, *into) {
		return d.Errf("%s: unexpected '%s', expected %s", word, *into, expected)
	}
	return nil
}

// count reads a whole number from 1 of a word that is given once.
func count(d *caddyfile.Dispenser, into *int) error {
	if err := once(d, *into != 0); err != nil {
		return err
	}
	n, err := number(d)
	*into = n
	return err
}

// size reads a number of bytes.
func size(d *caddyfile.Dispenser, into *int64) error {
	if err := once(d, *into != 0); err != nil {
		return err
	}
	word := d.Val()
	value, err := one(d, "a size such as 512KiB or 1MiB")
	if err != nil {
		return err
	}
	if n, ok := bytesize.Parse(value); ok {
		*into = n
		return nil
	}
	return d.Errf("%s: invalid size '%s', expected one such as 512KiB or 1MiB", word, value)
}

// args reads the arguments of the current word, at least one, as they were written.
func args(d *caddyfile.Dispenser, expected string) ([]string, error) {
	values, err := some(d, expected)
	for i, v := range values {
		values[i] = short(v)
	}
	return values, err
}

// pairs reads <ours>=<theirs>; one word alone is both where alone says so.
func pairs(d *caddyfile.Dispenser, form string, alone bool) (found [][2]string, err error) {
	word := d.Val()
	values, err := args(d, form)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		pair, err := cut(d, word, v, form, alone)
		if err != nil {
			return nil, err
		}
		found = append(found, pair)
	}
	return found, nil
}

func cut(d *caddyfile.Dispenser, word, value, form string, alone bool) (pair [2]string, err error) {
	ours, theirs, both := strings.Cut(value, "=")
	if !both {
		theirs = ours
	}
	if ours == "" || theirs == "" || !both && !alone {
		return pair, d.Errf("%s: unexpected '%s', expected %s", word, value, form)
	}
	return [2]string{ours, theirs}, nil
}

// shorthands are the placeholders that a Caddyfile has short forms of, which are written out
// before a directive sees its words. In the paths and templates of api_rest {path} or {dir}
// are names like any other.
var shorthands = func() *strings.Replacer {
	var both []string
	for _, name := range []string{
		"host", "hostport", "port", "orig_method", "orig_uri", "orig_path", "orig_dir", "orig_file", "orig_query", "method", "uri", "path",
		"dir", "file", "query", "remote", "remote_host", "remote_port", "scheme", "uuid", "tls_cipher", "tls_version",
		"tls_client_fingerprint", "tls_client_issuer", "tls_client_serial", "tls_client_subject", "tls_client_certificate_pem",
		"tls_client_certificate_der_base64", "upstream_hostport", "client_ip",
	} {
		written := caddyfile.Segment{{Text: "{" + name + "}"}}
		httpcaddyfile.NewShorthandReplacer().ApplyToSegment(&written)
		both = append(both, written[0].Text, "{"+name+"}")
	}
	return strings.NewReplacer(both...)
}()

func short(text string) string { return shorthands.Replace(text) }
