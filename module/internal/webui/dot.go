package webui

import (
	"fmt"
	"html"
	"html/template"
	"maps"
	"strconv"
	"strings"
	"time"
)

// data is the dot of the templates; see [Config].
type data struct {
	Lang, Site, Logo string
	Wordmark         bool
	Links            Links
	LanguagePath     string
	OtherLanguages   []languageLink
	// Resume is the request in progress, which a switch of the language must preserve.
	Resume string
	Style  template.HTML
	Icon   template.URL
	View   any
	// Small omits the header of the layout, for a page in a small frame.
	Small bool
	// Before and After are the parts of the address of an answer, and Onward is a complete one.
	Before, After string
	Onward        template.URL

	now   func() time.Time
	texts texts
	fill  map[string]string
}

// T returns the text of key.
func (d data) T(key string) (string, error) {
	return d.expandText(key, func(s string) string { return s }, func(s string) string { return s })
}

// Mark returns the text of key with the inserted values emphasized. Each name is put into a bdi
// element: a name with right-to-left marks must not reorder the sentence.
func (d data) Mark(key string) (template.HTML, error) {
	s, err := d.expandText(key, html.EscapeString, func(s string) string {
		return "<strong><bdi>" + html.EscapeString(s) + "</bdi></strong>"
	})
	return template.HTML(s), err //nolint:gosec // every part was escaped
}

func (d data) expandText(key string, plain, filled func(string) string) (string, error) {
	text, ok := d.texts[key]
	if !ok {
		return "", fmt.Errorf("no text %q", key)
	}
	var b strings.Builder
	end := 0
	for _, at := range blank.FindAllStringIndex(text, -1) {
		b.WriteString(plain(text[end:at[0]]))
		b.WriteString(filled(d.fill[text[at[0]+1:at[1]-1]]))
		end = at[1]
	}
	b.WriteString(plain(text[end:]))
	return b.String(), nil
}

// withBlank returns d with another placeholder and its value.
func (d data) withBlank(name, value string) data {
	d.fill = maps.Clone(d.fill)
	d.fill[name] = value
	return d
}

// On returns the text of key with {date} replaced by the day in UTC, since the server does not know the reader's time
// zone; times.js does. The text "time.date" is its layout, in the format of package time.
func (d data) On(key string, at time.Time) (template.HTML, error) {
	return d.withTime(key, "date", at, " data-day", d.texts["time.date"])
}

// When returns the text of key with {when} replaced by day and time in UTC, with the layout "time.when".
func (d data) When(key string, at time.Time) (template.HTML, error) {
	return d.withTime(key, "when", at, "", d.texts["time.when"])
}

func (d data) withTime(key, blank string, at time.Time, attribute, layout string) (template.HTML, error) {
	at = at.UTC()
	s, err := d.withBlank(blank, at.Format(layout)).expandText(key, html.EscapeString, func(s string) string {
		return `<time datetime="` + at.Format(time.RFC3339) + `"` + attribute + `>` + html.EscapeString(s) + `</time>`
	})
	return template.HTML(s), err //nolint:gosec // every part was escaped
}

// Ago returns the text of key with {ago} replaced by a rough duration.
func (d data) Ago(key string, idle time.Duration) (string, error) {
	unit, n := "time.days", int(idle.Hours()/24)
	switch {
	case idle < time.Minute:
		unit, n = "time.now", 0
	case idle < time.Hour:
		unit, n = "time.minutes", int(idle.Minutes())
	case idle < 24*time.Hour:
		unit, n = "time.hours", int(idle.Hours())
	}
	ago, err := d.withBlank("n", strconv.Itoa(n)).T(unit)
	if err != nil {
		return "", err
	}
	return d.withBlank("ago", ago).T(key)
}

// At says how long ago something was, and the time in UTC.
func (d data) At(at time.Time) (string, error) {
	return d.withBlank("time", at.UTC().Format(d.texts["time.clock"])).Ago("time.at", d.now().Sub(at))
}

// Browser describes a session's browser.
func (d data) Browser(s SessionView) (string, error) { return d.BrowserOn(s.Browser, s.System) }

// BrowserOn describes a browser on a system; either may be "".
func (d data) BrowserOn(browser, system string) (string, error) {
	switch {
	case browser != "" && system != "":
		return d.withBlank("browser", browser).withBlank("system", system).T("account.browser")
	case browser != "" || system != "":
		return browser + system, nil
	}
	return d.T("account.browser.unknown")
}
