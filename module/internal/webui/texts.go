package webui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// texts maps keys to the translations of one language.
type texts map[string]string

// blank matches a placeholder in a text.
var blank = regexp.MustCompile(`\{[^{}]*\}`)

// loadTexts reads every language. The built-in English texts determine the keys.
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
		t, err := files.readTexts(lang, tag)
		if err != nil {
			return err
		}
		if t["html.lang"] == "" {
			t["html.lang"] = lang
		}
		if err := t.checkTexts(english); err != nil {
			return fmt.Errorf("webui: %s: %w", files.displayPath(lang+".json"), err)
		}
		p.texts[lang], tags = t, append(tags, tag)
	}
	p.matcher = language.NewMatcher(tags)
	return nil
}

// builtinLanguages are those of the translations folder. They also serve regional variants such
// as zh-CN or en-GB, but not zh-TW, which is another script.
var builtinLanguages = []string{"en", "zh"}

var builtinMatcher = language.NewMatcher([]language.Tag{language.English, language.Chinese})

// readTexts merges the file in the directory into the built-in one.
func (f files) readTexts(lang string, tag language.Tag) (texts, error) {
	name, all := lang+".json", texts{}
	if _, i, confidence := builtinMatcher.Match(tag); confidence >= language.High {
		t, err := parseTexts(f.builtin, builtinLanguages[i]+".json")
		if err != nil {
			return nil, err
		}
		all = t
	}
	if f.isOverridden(name) {
		t, err := parseTexts(f.override, name)
		if err != nil {
			return nil, fmt.Errorf("webui: %s: %w", f.displayPath(name), err)
		}
		maps.Copy(all, t)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("webui: no translation %s", name)
	}
	return all, nil
}

func parseTexts(from fs.FS, name string) (texts, error) {
	b, err := readFile(from, name)
	if err != nil {
		return nil, err
	}
	var t texts
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, fmt.Errorf("line %d: %w", 1+bytes.Count(b[:min(jsonOffset(err), len(b))], []byte("\n")), err)
	}
	return t, nil
}

func jsonOffset(err error) int {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return int(syntax.Offset)
	case errors.As(err, &kind):
		return int(kind.Offset)
	}
	return 0
}

// checkTexts reports texts that are missing, unused, or have a placeholder that no page
// replaces.
func (t texts) checkTexts(english texts) error {
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
				return fmt.Errorf("the text %q has an unknown placeholder %s", key, b)
			}
		}
	}
	return nil
}
