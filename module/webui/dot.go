package webui

import (
	"fmt"
	"html"
	"html/template"
	"strings"
)

// data is the dot of the templates; see [Config].
type data struct {
	Lang, Site, Logo string
	Style            template.HTML
	Icon             template.URL
	View             any

	texts texts
	fill  map[string]string
}

// T is the text of key.
func (d data) T(key string) (string, error) {
	return d.expand(key, func(s string) string { return s }, func(s string) string { return s })
}

// Mark is the text of key with what was filled in emphasised. Each name stands in
// a bdi element: one with right-to-left marks must not turn the sentence around.
func (d data) Mark(key string) (template.HTML, error) {
	s, err := d.expand(key, html.EscapeString, func(s string) string {
		return "<strong><bdi>" + html.EscapeString(s) + "</bdi></strong>"
	})
	return template.HTML(s), err //nolint:gosec // every part was escaped
}

func (d data) expand(key string, plain, filled func(string) string) (string, error) {
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
