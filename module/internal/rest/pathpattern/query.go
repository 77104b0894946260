package pathpattern

import (
	"net/url"
	"strings"
)

// EscapeQuery escapes a text for a query. A blank becomes %20: the + of HTML forms is a plus to OData and to whatever reads
// queries by RFC 3986.
func EscapeQuery(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// EncodeQuery encodes parameters as [url.Values.Encode] does, but escapes them by [EscapeQuery].
func EncodeQuery(parameters url.Values) string {
	return strings.ReplaceAll(parameters.Encode(), "+", "%20") // a plus itself is %2B there
}

// quotesAround returns the quotes that are open behind each part of a path or query, in whose JSON or OData values may be
// quoted. No quote is open behind the separator of segments or parameters.
func quotesAround(parts []Part, separator byte) []string {
	quotes := make([]string, len(parts))
	open := ""
	for i, part := range parts {
		text := part.Text
		if end := strings.LastIndexByte(text, separator); end >= 0 {
			text, open = text[end+1:], ""
		}
		text, _ = url.QueryUnescape(text) // ParseTemplate has read it
		open = OpenQuotes(open, text)
		quotes[i] = open
	}
	return quotes
}

// OpenQuotes returns the quotes that are open behind a text, in front of which those of open are. One kind may be inside
// the other, and `\"` ends none.
func OpenQuotes(open, text string) string {
	for _, c := range strings.ReplaceAll(text, `\"`, "") {
		if at := strings.IndexRune(open, c); at >= 0 {
			open = open[:at]
		} else if c == '"' || c == '\'' {
			open += string(c)
		}
	}
	return open
}

// EndQuotes reports whether a value in these quotes has one of them or a backslash in it: the upstream could read what is
// behind it as more than a value, such as further members of JSON.
func EndQuotes(open, value string) bool { return open != "" && strings.ContainsAny(value, `\`+open) }

// EndsQuotes is EndQuotes for the values that fill a template.
func (t *Template) EndsQuotes(values []string) bool {
	ends := func(parts []Part, quotes []string) bool {
		for i, part := range parts {
			if part.Value >= 0 && EndQuotes(quotes[i], values[part.Value]) {
				return true
			}
		}
		return false
	}
	return ends(t.path, t.inPath) || ends(t.query, t.inQuery)
}
