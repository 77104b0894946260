package apirest

import (
	"fmt"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/rest/login"
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
func (b *block) readVersion(d *caddyfile.Dispenser) error {
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
	if slices.ContainsFunc(b.Versions, func(other restapi.Version) bool { return other.Name == v.Name }) {
		return d.Errf("version %s is given twice", v.Name)
	}
	var loginLine caddyfile.Token
	var own []*declaration
	err := parse.Words{
		"login": parse.Once(&v.Login, func(d *caddyfile.Dispenser) (*login.Config, error) {
			loginLine = d.Token()
			return readLogin(d)
		}),
		"to":           b.readUpstream(&v.Upstream, &v.Charset),
		"strip_prefix": parse.Flag(&v.StripPrefix),
		"deprecated":   parse.Once(&v.Deprecated, readDay),
		"sunset":       parse.Once(&v.Sunset, readDay),
		"successor":    parse.Once(&v.Successor, parse.Text("an address such as https://api.example.com/v2")),
		"doc":          parse.Once(&v.Doc, parse.Text("an address such as https://docs.example.com/v2")),
		"gone":         parse.Flag(&v.Gone),
		"resource":     parse.Append(&own, b.readDeclaration),
	}.ReadBlock(d, "version")
	if err != nil {
		return err
	}
	if v.Login != nil && v.Upstream == nil {
		return parse.ErrorAt(loginLine, fmt.Errorf("version %s: login needs an upstream of the version's own: expected `to` beside it, or login outside of the version", v.Name))
	}
	for _, r := range own {
		v.Resources = append(v.Resources, r.Resource)
	}
	b.Versions = append(b.Versions, v)
	return b.checkVersion(own)
}

// readDay reads a day, which begins in UTC, or a time.
func readDay(d *caddyfile.Dispenser) (time.Time, error) {
	word := d.Val()
	value, err := parse.Argument("a day such as 2027-06-30")(d)
	if err != nil {
		return time.Time{}, err
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, d.Errf("%s: invalid day '%s', expected one such as 2027-06-30 or 2027-06-30T12:00:00Z", word, value)
}
