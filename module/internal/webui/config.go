package webui

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Config configures the pages. [New] checks it.
type Config struct {
	// Name is what the pages call this server. Default "Gatehouse".
	Name string
	// Languages are the languages of the pages, as BCP 47 tags; the first is the fallback.
	// Default en, zh. Any other needs its <tag>.json in Templates.
	Languages []string
	// Templates is a directory whose files replace the built-in ones of the same
	// name; "" for none. Read once, by New.
	//
	//	layout.html  the document; shows {{template "title" .}} and {{template "main" .}}
	//	login.html, consent.html, logout.html, account.html, error.html,
	//	qr.html, confirm.html, entercode.html, home.html
	//	             each defines "title" and "main"
	//	style.css    the one style sheet, after :root{--accent-light;--accent-dark}
	//	<tag>.json   texts of a language, laid over the built-in ones
	//
	// Templates are html/template with the dot
	//
	//	.View        [LoginView], [ConsentView], [LogoutView], [AccountView], [ErrorView],
	//	             [QRView], [ConfirmView], [EnterCodeView] or [HomeView]
	//	.Site .Logo .Wordmark .Links .LanguagePath  as in this Config
	//	.OtherLanguages  the languages to switch to, each with .Tag, .HTML (for lang) and .Name
	//	.Resume      the request that a switch of the language has to carry, or ""
	//	.Initials n  one or two letters of a name, .Hue id the class of a tile's colour
	//	.Lang        for <html lang>
	//	.Style .Icon the whole <style> element, the address of the icon
	//	.T "key"     a text, with {site}, {client}, {host} and {user} filled in
	//	.Mark "key"  the same with what was filled in emphasised
	//	.On "key" t  a text with {date} filled in, the day, .When "key" t one with {when},
	//	             day and time, both as <time>; .Ago "key" d one with {ago},
	//	.Browser s   what browser a [SessionView] is, .BrowserOn b s with both names
	//	.At t        how long ago t was, and the time of the day
	//	.Small       the layout leaves its header out
	//	.Before .After .Onward  of qr.html: the parts of the address with the answer
	//
	// No other style applies and no script runs but wait.js in qr.html and times.js in account.html, since the
	// Content-Security-Policy of the pages allows neither. An .html file of another name is an error, so
	// that a misspelt one is not silently without effect.
	Templates string
	// Logo is an https URL or an absolute path on the issuer's host; "" for the built-in mark. Shown 40 pixels high.
	Logo string
	// Wordmark says that the logo contains Name, which is then not repeated beside it.
	Wordmark bool
	// Color is the accent as #rrggbb, default #1d5bd6. It is darkened for the light theme as far as WCAG 2.2 AA asks.
	Color string
	// ColorDark is the accent of the dark theme, default Color. It is lightened as far as WCAG 2.2 AA asks.
	ColorDark string
	// Links are links to the operator's own pages.
	Links Links
	// LanguagePath is the path on the issuer's host to which the reader's choice of a language is posted: fields lang
	// (one of Languages) and, on the sign-in and consent page, request. Default "/language".
	LanguagePath string
	// HTTPS says that the issuer uses https, and adds Strict-Transport-Security.
	HTTPS bool
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Log receives errors of pages that could not be rendered. Default: none.
	Log *slog.Logger
}

// The default accents. The one of the dark theme is brighter than what Color would be turned
// into.
const (
	defaultColor     = "#1d5bd6"
	defaultColorDark = "#7aa7ff"
)

// logoHost matches hosts that may become a source expression of the CSP: a host with ";" or ","
// in it, which net/url accepts, would add directives.
var logoHost = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)

func (c *Config) setDefaults() error {
	if c.Name = strings.TrimSpace(c.Name); c.Name == "" {
		c.Name = "Gatehouse"
	}
	if len(c.Languages) == 0 {
		c.Languages = []string{"en", "zh"}
	}
	if len(c.Languages) > 32 {
		return errors.New("webui: more than 32 languages")
	}
	if c.ColorDark == "" {
		c.ColorDark = c.Color
	}
	if c.Color == "" {
		c.Color = defaultColor
	}
	if c.ColorDark == "" {
		c.ColorDark = defaultColorDark
	}
	if c.LanguagePath == "" {
		c.LanguagePath = "/language"
	}
	if !samePath(c.LanguagePath) {
		return errors.New("webui: LanguagePath is not an absolute path")
	}
	if c.Wordmark && c.Logo == "" {
		return errors.New("webui: a wordmark needs a logo")
	}
	if err := c.Links.checkLinks(); err != nil {
		return err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	_, err := logoOrigin(c.Logo)
	return err
}

// logoOrigin returns what img-src needs in addition to 'self', with a leading space.
func logoOrigin(logo string) (string, error) {
	if logo == "" || samePath(logo) {
		return "", nil
	}
	u, err := url.Parse(logo)
	if err != nil || u.Scheme != "https" || u.User != nil || !logoHost.MatchString(u.Host) {
		return "", fmt.Errorf("webui: logo %q is neither an https URL nor an absolute path", logo)
	}
	return " https://" + u.Host, nil
}

// samePath reports whether a browser resolves s on the host of the page. Two leading slashes name another
// host, browsers treat a backslash as a slash, and they drop control characters first.
func samePath(s string) bool {
	if !strings.HasPrefix(s, "/") || strings.HasPrefix(s, "//") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f })
}
