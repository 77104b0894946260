package webui

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// texts are the translations of one language by key.
type texts map[string]string

// blank is a place in a text to fill in.
var blank = regexp.MustCompile(`\{[^{}]*\}`)

// loadTexts reads every language. The built-in English says which keys there are.
func (p *Pages) loadTexts(files files) error {
	english, err := parseTexts(files.builtin, "en.json")
	if err != nil {
		return err
	}
	p.texts = make(map[string]texts, len(p.config.Languages))
	tags := make([]language.Tag, 0, len(p.config.Languages))
	for _, lang := range p.config.Languages {
		tag, err := language.Parse(lang)
		if err != nil || strings.ContainsAny(lang, "/\\.") {
			return fmt.Errorf("webui: language %q is not a BCP 47 tag", lang)
		}
		if _, twice := p.texts[lang]; twice {
			return fmt.Errorf("webui: language %q is given twice", lang)
		}
		t, err := files.texts(lang + ".json")
		if err != nil {
			return err
		}
		if t["html.lang"] == "" {
			t["html.lang"] = lang
		}
		if err := t.check(english); err != nil {
			return fmt.Errorf("webui: %s: %w", files.where(lang+".json"), err)
		}
		p.texts[lang], tags = t, append(tags, tag)
	}
	p.matcher = language.NewMatcher(tags)
	return nil
}

// texts lays the file of the directory over the built-in one.
func (f files) texts(name string) (texts, error) {
	all := texts{}
	found := false
	for _, from := range []fs.FS{f.builtin, f.override} {
		if from == nil {
			continue
		}
		t, err := parseTexts(from, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("webui: %s: %w", f.where(name), err)
		}
		found = true
		maps.Copy(all, t)
	}
	if !found {
		return nil, fmt.Errorf("webui: no translation %s", name)
	}
	return all, nil
}

func parseTexts(from fs.FS, name string) (texts, error) {
	b, err := fs.ReadFile(from, name)
	if err != nil {
		return nil, err
	}
	var t texts
	if err := json.Unmarshal(b, &t); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("line %d: %w", 1+strings.Count(string(b[:syntax.Offset]), "\n"), err)
		}
		return nil, err
	}
	return t, nil
}

// check says which text is missing, is not used or has a blank no page fills in.
func (t texts) check(english texts) error {
	for _, key := range slices.Sorted(maps.Keys(english)) {
		if t[key] == "" {
			return fmt.Errorf("the text %q is missing", key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t)) {
		known := blank.FindAllString(english[key], -1)
		if english[key] == "" {
			return fmt.Errorf("the text %q is unknown", key)
		}
		for _, b := range blank.FindAllString(t[key], -1) {
			if b != "{site}" && !slices.Contains(known, b) {
				return fmt.Errorf("the text %q has nothing for %s", key, b)
			}
		}
	}
	return nil
}

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
