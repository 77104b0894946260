package caddyfile

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// headers reads names of header fields, and adds them to those before.
func headers(d *caddyfile.Dispenser, before []string) ([]string, error) {
	expected := "names of header fields such as X-WP-Total, X-WP-* or *"
	if d.Val() == "header_up" {
		expected = "Cookie"
	}
	names, err := args(d, expected)
	return append(before, names...), err
}

// headers reads them for all resources, and judges them with those before.
func (r *rest) headers(into *[]string) (err error) {
	line := r.Token()
	if *into, err = headers(r.Dispenser, *into); err != nil {
		return err
	}
	if err := r.CheckHeaders(); err != nil {
		return at(line, err)
	}
	return nil
}
