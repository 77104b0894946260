package caddyfile

import (
	"strings"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
)

// readPages reads how the pages look.
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
func (g *globalBlock) readPages() error {
	p := &g.app.Pages
	return g.readBlock(func(word string) (err error) {
		switch word {
		case "templates":
			p.Templates, err = parse.Argument(g.Dispenser, "a directory")
		case "logo":
			err = g.readLogo()
		case "color":
			err = g.readColors()
		case "languages":
			p.Languages, err = parse.Arguments(g.Dispenser, "language tags such as en zh")
		case "links":
			err = g.readLinks()
		default:
			err = parse.UnknownWord(g.Dispenser, "pages", "templates", "logo", "color", "languages", "links")
		}
		return err
	})
}

func (g *globalBlock) readLogo() (err error) {
	p := &g.app.Pages
	if p.Logo, err = g.readLink(); err != nil || !g.NextArg() {
		return err
	}
	if g.Val() != "wordmark" {
		return g.Errf("logo: unexpected argument '%s', expected only wordmark, for a logo that shows the name", g.Val())
	}
	if p.Wordmark = true; g.NextArg() {
		return g.Errf("logo: unexpected argument '%s', expected only an address and wordmark", g.Val())
	}
	return nil
}

func (g *globalBlock) readColors() error {
	const form = `a colour such as "#1d5bd6", in quotes`
	colors, err := parse.Arguments(g.Dispenser, form)
	if err != nil {
		return err
	}
	if len(colors) > 2 {
		return g.Errf("color: unexpected argument '%s', expected only a colour and one of the dark theme", colors[2])
	}
	for i, color := range colors {
		// In quotes, since # begins a comment; or without it.
		colors[i] = "#" + strings.TrimPrefix(color, "#")
		if len(colors[i]) != 7 || strings.Trim(colors[i][1:], "0123456789abcdefABCDEF") != "" {
			return g.Errf("color: invalid '%s', expected %s", color, form)
		}
	}
	p := &g.app.Pages
	if p.Color = colors[0]; len(colors) == 2 {
		p.ColorDark = colors[1]
	}
	return nil
}

func (g *globalBlock) readLinks() error {
	l := &g.app.Pages.Links
	return g.readBlock(func(word string) error {
		to, ok := map[string]*string{"help": &l.Help, "privacy": &l.Privacy, "terms": &l.Terms, "forgot": &l.Forgot}[word]
		if !ok {
			return parse.UnknownWord(g.Dispenser, "links", "help", "privacy", "terms", "forgot")
		}
		link, err := g.readLink()
		if err == nil && g.NextArg() {
			err = g.Errf("%s: unexpected argument '%s', expected only an https address or a path on the issuer's host", word, g.Val())
		}
		*to = link
		return err
	})
}

// readLink reads the next argument as an address that a page may link to.
func (g *globalBlock) readLink() (string, error) {
	const form = "an https address or a path on the issuer's host"
	word := g.Val()
	if !g.NextArg() || g.Val() == "" {
		return "", g.Errf("%s: expected %s", word, form)
	}
	if err := gateway.CheckLink(g.Val()); err != nil {
		return "", g.Errf("%s: invalid '%s', expected %s", word, g.Val(), form)
	}
	return g.Val(), nil
}
