package caddyfile

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
)

// pageWords say how the pages look.
//
//	pages {
//		templates <directory>
//		logo <https address or path> [wordmark]
//		color <accent> [<accent of the dark theme>]
//		languages <tags...>
//		links {
//			help|privacy|terms|forgot <https address or path>
//		}
//	}
func pageWords(p *gateway.Pages) parse.Words {
	return parse.Words{
		"templates": parse.Once(&p.Templates, parse.Argument("a directory")),
		"logo":      func(d *caddyfile.Dispenser) error { return readLogo(d, p) },
		"color":     func(d *caddyfile.Dispenser) error { return readColors(d, p) },
		"languages": parse.List(&p.Languages, "language tags such as en zh"),
		"links": parse.Words{
			"help":    parse.Once(&p.Links.Help, readOnlyLink),
			"privacy": parse.Once(&p.Links.Privacy, readOnlyLink),
			"terms":   parse.Once(&p.Links.Terms, readOnlyLink),
			"forgot":  parse.Once(&p.Links.Forgot, readOnlyLink),
		}.Section(),
	}
}

func readLogo(d *caddyfile.Dispenser, p *gateway.Pages) (err error) {
	if err := parse.CheckOnce(d, p.Logo != ""); err != nil {
		return err
	}
	if p.Logo, err = readLink(d); err != nil || !d.NextArg() {
		return err
	}
	if d.Val() != "wordmark" {
		return d.Errf("logo: unexpected argument '%s', expected only wordmark, for a logo that shows the name", d.Val())
	}
	if p.Wordmark = true; d.NextArg() {
		return d.Errf("logo: unexpected argument '%s', expected only an address and wordmark", d.Val())
	}
	return nil
}

func readColors(d *caddyfile.Dispenser, p *gateway.Pages) error {
	const form = `a colour such as "#1d5bd6", in quotes`
	if err := parse.CheckOnce(d, p.Color != ""); err != nil {
		return err
	}
	colors, err := parse.Arguments(form)(d)
	if err != nil {
		return err
	}
	if len(colors) > 2 {
		return d.Errf("color: unexpected argument '%s', expected only a colour and one of the dark theme", colors[2])
	}
	for i, color := range colors {
		// In quotes, since # begins a comment; or without it.
		colors[i] = "#" + strings.TrimPrefix(color, "#")
		if len(colors[i]) != 7 || strings.Trim(colors[i][1:], "0123456789abcdefABCDEF") != "" {
			return d.Errf("color: invalid '%s', expected %s", color, form)
		}
	}
	if p.Color = colors[0]; len(colors) == 2 {
		p.ColorDark = colors[1]
	}
	return nil
}

const linkForm = "an https address or a path on the issuer's host"

// readOnlyLink reads the single argument of a word as an address that a page may link to.
func readOnlyLink(d *caddyfile.Dispenser) (string, error) {
	word := d.Val()
	link, err := readLink(d)
	if err == nil && d.NextArg() {
		err = d.Errf("%s: unexpected argument '%s', expected only %s", word, d.Val(), linkForm)
	}
	return link, err
}

// readLink reads the next argument as an address that a page may link to.
func readLink(d *caddyfile.Dispenser) (string, error) {
	word := d.Val()
	if !d.NextArg() || d.Val() == "" {
		return "", d.Errf("%s: expected %s", word, linkForm)
	}
	if err := gateway.CheckLink(d.Val()); err != nil {
		return "", d.Errf("%s: invalid '%s', expected %s", word, d.Val(), linkForm)
	}
	return d.Val(), nil
}
