package apirest

import (
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway/restapi"
)

// readVersion reads a version of the API.
//
//	version <name> {
//		to ...
//		login { ... }
//		strip_prefix
//		deprecated <day or time>
//		sunset <day or time>
//		successor <url>
//		doc <url>
//		gone
//		resource <path> { ... }
//	}
func (b *block) readVersion() error {
	d := b.Dispenser
	if !d.NextArg() {
		return d.Err("version: expected a name such as v1")
	}
	v := restapi.Version{}
	v.Name = d.Val()
	if d.NextArg() {
		return d.Errf("version %s: unexpected argument '%s', expected a block or nothing", v.Name, d.Val())
	}
	if !parse.IsVersionName(v.Name) {
		return d.Errf("version: invalid name '%s', expected v and a number such as v1", v.Name)
	}
	for _, other := range b.Versions {
		if other.Name == v.Name {
			return d.Errf("version %s is given twice", v.Name)
		}
	}
	var loginLine caddyfile.Token
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch d.Val() {
		case "login":
			loginLine = d.Token()
			err = readLogin(d, &v.Login)
		case "to":
			v.Upstream, err = readUpstream(b.Helper, v.Upstream, &v.Charset)
		case "strip_prefix":
			err = parse.Flag(d, &v.StripPrefix)
		case "deprecated":
			err = readDay(d, &v.Deprecated)
		case "sunset":
			err = readDay(d, &v.Sunset)
		case "successor":
			err = parse.Text(d, &v.Successor, "an address such as https://api.example.com/v2")
		case "doc":
			err = parse.Text(d, &v.Doc, "an address such as https://docs.example.com/v2")
		case "gone":
			err = parse.Flag(d, &v.Gone)
		case "resource":
			v.Resources, err = b.addResource(v.Resources, b.Resources)
		default:
			err = parse.UnknownWord(d, "version", "to", "login", "strip_prefix", "deprecated", "sunset", "successor", "doc", "gone", "resource")
		}
		if err != nil {
			return err
		}
	}
	if v.Login != nil && v.Upstream == nil {
		return parse.ErrorAt(loginLine, fmt.Errorf("version %s: login needs an upstream of the version's own: expected `to` beside it, or login outside of the version", v.Name))
	}
	b.Versions = append(b.Versions, v)
	return nil
}

// readDay reads a day, which begins in UTC, or a time.
func readDay(d *caddyfile.Dispenser, into *time.Time) error {
	if err := parse.Once(d, !into.IsZero()); err != nil {
		return err
	}
	word := d.Val()
	value, err := parse.Argument(d, "a day such as 2027-06-30")
	if err != nil {
		return err
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			*into = t.UTC()
			return nil
		}
	}
	return d.Errf("%s: invalid day '%s', expected one such as 2027-06-30 or 2027-06-30T12:00:00Z", word, value)
}
