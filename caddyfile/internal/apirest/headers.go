package apirest

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
)

// readHeaderNames reads names of header fields, and adds them to those before.
func readHeaderNames(d *caddyfile.Dispenser, before []string) ([]string, error) {
	expected := "names of header fields such as X-WP-Total, X-WP-* or *"
	if d.Val() == "header_up" {
		expected = "Cookie"
	}
	names, err := parse.LiteralArguments(d, expected)
	return append(before, names...), err
}

// readHeaderNames reads those of all resources.
func (b *block) readHeaderNames(into *[]string) (err error) {
	line := b.Token()
	if *into, err = readHeaderNames(b.Dispenser, *into); err != nil {
		return err
	}
	if err := b.CheckHeaders(); err != nil {
		return parse.ErrorAt(line, err)
	}
	return nil
}
