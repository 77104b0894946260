package webui

import (
	"net/http"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// Limits on what a request can make the gateway parse. Longer values are truncated rather than refused, since
// they are only preferences.
const (
	maxLocales    = 200 // bytes of ui_locales
	maxLocaleTags = 10  // tags in it
	maxLangCookie = 35  // bytes, the longest tag of RFC 5646 section 4.4.1
	maxAcceptLang = 400 // bytes of Accept-Language
)

// LanguageCookie is the name of the cookie with the language that a reader has chosen.
const LanguageCookie = "gatehouse-lang"

// Language chooses the language of a page: by the cookie [LanguageCookie], which is the reader's own choice, then
// ui_locales (OIDC Core section 3.1.2.1, space-separated), which the application suggests, then Accept-Language,
// and finally the first configured one. It returns one of Config.Languages.
func (p *Pages) Language(r *http.Request, uiLocales string) string {
	if c, err := r.Cookie(LanguageCookie); err == nil && len(c.Value) <= maxLangCookie {
		if lang, ok := p.matchLanguage(parseTags([]string{c.Value})); ok {
			return lang
		}
	}
	if lang, ok := p.matchLanguage(parseTags(strings.Fields(cutToWords(uiLocales, maxLocales)))); ok {
		return lang
	}
	accept := cutToWords(r.Header.Get("Accept-Language"), maxAcceptLang)
	if tags, _, err := language.ParseAcceptLanguage(accept); err == nil {
		if lang, ok := p.matchLanguage(tags); ok {
			return lang
		}
	}
	return p.config.Languages[0]
}

// Languages returns the tags of the languages of the pages, for the metadata.
func (p *Pages) Languages() []string { return slices.Clone(p.config.Languages) }

func (p *Pages) matchLanguage(tags []language.Tag) (string, bool) {
	if len(tags) == 0 {
		return "", false
	}
	_, i, confidence := p.matcher.Match(tags...)
	return p.config.Languages[i], confidence > language.No
}

func parseTags(wishes []string) []language.Tag {
	var tags []language.Tag
	for _, w := range wishes[:min(len(wishes), maxLocaleTags)] {
		if t, err := language.Parse(w); err == nil {
			tags = append(tags, t)
		}
	}
	return tags
}

// cutToWords truncates s at a word boundary: a truncated tag is another tag.
func cutToWords(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = s[:limit]
	if i := strings.LastIndexAny(s, " ,"); i >= 0 {
		return s[:i]
	}
	return ""
}
