package caddyfile

import (
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
)

// version reads a version of the API.
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
func (r *rest) version() error {
	d := r.Dispenser
	if !d.NextArg() {
		return d.Err("version: expected a name such as v1")
	}
	v := restapi.Version{}
	v.Name = d.Val()
	if d.NextArg() {
		return d.Errf("version %s: unexpected argument '%s', expected a block or nothing", v.Name, d.Val())
	}
	if !versionName.MatchString(v.Name) {
		return d.Errf("version: invalid name '%s', expected v and a number such as v1", v.Name)
	}
	for _, other := range r.Versions {
		if other.Name == v.Name {
			return d.Errf("version %s is given twice", v.Name)
		}
	}
	var account caddyfile.Token
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch d.Val() {
		case "login":
			account = d.Token()
			err = readLogin(d, &v.Login)
		case "to":
			v.Upstream, err = to(r.Helper, v.Upstream, &v.Charset)
		case "strip_prefix":
			err = flag(d, &v.StripPrefix)
		case "deprecated":
			err = r.day(&v.Deprecated)
		case "sunset":
			err = r.day(&v.Sunset)
		case "successor":
			err = text(d, &v.Successor, "an address such as https://api.example.com/v2")
		case "doc":
			err = text(d, &v.Doc, "an address such as https://docs.example.com/v2")
		case "gone":
			err = flag(d, &v.Gone)
		case "resource":
			v.Resources, err = r.resource(v.Resources, r.Resources)
		default:
			err = unknown(d, "version", "to", "login", "strip_prefix", "deprecated", "sunset", "successor", "doc", "gone", "resource")
		}
		if err != nil {
			return err
		}
	}
	if v.Login != nil && v.Upstream == nil {
		return at(account, fmt.Errorf("version %s: login needs an upstream of the version's own: expected `to` beside it, or login outside of the version", v.Name))
	}
	r.Versions = append(r.Versions, v)
	return nil
}

// day reads a day, which begins in UTC, or a time.
func (r *rest) day(into *time.Time) error {
	if err := once(r.Dispenser, !into.IsZero()); err != nil {
		return err
	}
	word := r.Val()
	value, err := one(r.Dispenser, "a day such as 2027-06-30")
	if err != nil {
		return err
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			*into = t.UTC()
			return nil
		}
	}
	return r.Errf("%s: invalid day '%s', expected one such as 2027-06-30 or 2027-06-30T12:00:00Z", word, value)
}
