package webui

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
)

// apiPart is a part of a schema's text, and the schema that it names, if any.
type apiPart struct{ Text, Schema string }

var apiReference = regexp.MustCompile(`"#/components/schemas/([A-Za-z0-9._-]+)"`)

// linkSchemas returns a schema's text, split where it refers to other schemas.
func linkSchemas(raw json.RawMessage) (parts []apiPart) {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return []apiPart{{string(raw), ""}}
	}
	text, end := b.String(), 0
	for _, m := range apiReference.FindAllStringSubmatchIndex(text, -1) {
		parts = append(parts, apiPart{Text: text[end:m[0]]}, apiPart{text[m[0]:m[1]], text[m[2]:m[3]]})
		end = m[1]
	}
	return append(parts, apiPart{Text: text[end:]})
}

// referredSchemas returns the schemas that a schema refers to, each once.
func referredSchemas(raw json.RawMessage) (names []string) {
	for _, m := range apiReference.FindAllStringSubmatch(string(raw), -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}
