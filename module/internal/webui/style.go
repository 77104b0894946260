package webui

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/url"
	"strings"
)

// compact removes from the built-in style sheet what only its editors need: it is sent with
// every page, also under overload.
var compact = strings.NewReplacer("\n", "", "\t", "", ": ", ":", ", ", ",", " { ", "{", " {", "{", "; ", ";", ";\n}", "}")

// settle makes buttons ignore the mouse for a moment after it enters the page. The window of another site could lie over
// the page and close at the first click of a double click, so that the second presses a button that nobody has seen. It
// is part of every page, and important, so that other animations of an operator's style sheet do not replace it, nor a rule
// that stops them all for people who prefer less motion. With a touch screen it is off: the first tap would be lost.
const settle = "@media (hover:hover) and (not (any-pointer:coarse)){html:hover :is(button,[type=submit]){animation:settle .7s!important}}@keyframes settle{from,to{pointer-events:none}}"

// loadStyle makes the style element, the icon and the headers. The policy names the style by its
// hash, so that no other style that gets into a page applies.
func (p *Pages) loadStyle(files files) error {
	accent, err := parseColor(p.config.Color)
	if err != nil {
		return err
	}
	sheet, err := files.readText("style.css")
	if err != nil {
		return err
	}
	if !files.isOverridden("style.css") {
		sheet = compact.Replace(sheet)
	}
	if strings.Contains(strings.ToLower(sheet), "</style") {
		return fmt.Errorf("webui: %s: a style sheet cannot contain </style", files.displayPath("style.css"))
	}
	accentDark, err := parseColor(p.config.ColorDark)
	if err != nil {
		return err
	}
	light, dark := fitAccents(accent, accentDark)
	// A browser replaces CRLF by LF before it hashes the sheet.
	css := ":root{--accent-light:" + light.String() + ";--accent-dark:" + dark.String() + "}" + settle + "\n" +
		strings.ReplaceAll(sheet, "\r\n", "\n")
	sum := sha256.Sum256([]byte(css))
	origin, err := logoOrigin(p.config.Logo)
	if err != nil {
		return err
	}
	p.style = template.HTML("<style>" + css + "</style>") //nolint:gosec // ours, or the operator's file
	p.icon = template.URL("data:image/svg+xml," + url.PathEscape(fmt.Sprintf(iconSVG, accent)))
	p.security = securityHeaders("sha256-"+base64.StdEncoding.EncodeToString(sum[:]), origin, p.config.HTTPS)
	return nil
}

// iconSVG is the mark of layout.html in one colour. An icon inside the page spares every visit a
// request for /favicon.ico, which may belong to another application.
const iconSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="%s"/>` +
	`<path fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" d="M10 31V19a10 10 0 0 1 20 0v12M16 31V20a4 4 0 0 1 8 0v11M7 31h26"/></svg>`
