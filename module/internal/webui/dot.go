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
	// Resume is the request in progress, for a switch of the language.
	Resume string
	Style  template.HTML
	Icon   template.URL
	View   any
	// Small leaves the header of the layout out: the page stands in a small frame.
	Small bool
	// Before and After are what the address of an answer is made of, and Onward is one.
	Before, After string
	Onward        template.URL

	now   func() time.Time
	texts texts
	fill  map[string]string
}

// T is the text of key.
func (d data) T(key string) (string, error) {
	return d.expandText(key, func(s string) string { return s }, func(s string) string { return s })
}

// Mark is the text of key with what was filled in emphasised. Each name stands in
// a bdi element: one with right-to-left marks must not turn the sentence around.
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

// withBlank is d with one more blank that can be filled in.
func (d data) withBlank(name, value string) data {
	d.fill = maps.Clone(d.fill)
	d.fill[name] = value
	return d
}

// On is the text of key with {date} filled in: the day in UTC, since the server does not know the zone of its reader;
// times.js does. The text "time.date" is its layout, in the manner of package time.
func (d data) On(key string, at time.Time) (template.HTML, error) {
	return d.withTime(key, "date", at, " data-day", d.texts["time.date"])
}

// When is the text of key with {when} filled in: day and time of the day in UTC, with the layout "time.when".
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

// Ago is the text of key with {ago} filled in: how long something was, roughly.
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

// At says when something was: how long ago, and the time of the day in UTC.
func (d data) At(at time.Time) (string, error) {
	return d.withBlank("time", at.UTC().Format(d.texts["time.clock"])).Ago("time.at", d.now().Sub(at))
}

// Browser says in words what a session's browser is.
func (d data) Browser(s SessionView) (string, error) { return d.BrowserOn(s.Browser, s.System) }

// BrowserOn says in words what a browser on a system is; either may be "".
func (d data) BrowserOn(browser, system string) (string, error) {
	switch {
	case browser != "" && system != "":
		return d.withBlank("browser", browser).withBlank("system", system).T("account.browser")
	case browser != "" || system != "":
		return browser + system, nil
	}
	return d.T("account.browser.unknown")
}
