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

// quotesAround returns the quotes that are open behind each part of a query, in whose JSON or OData values may be quoted. One
// kind may be inside the other.
func quotesAround(parts []Part) []string {
	quotes := make([]string, len(parts))
	open := ""
	for i, part := range parts {
		text := part.Text
		if end := strings.LastIndexByte(text, '&'); end >= 0 { // the next parameter begins
			text, open = text[end+1:], ""
		}
		text, _ = url.QueryUnescape(text) // ParseTemplate has read it
		for _, c := range strings.ReplaceAll(text, `\"`, "") {
			if at := strings.IndexRune(open, c); at >= 0 {
				open = open[:at]
			} else if c == '"' || c == '\'' {
				open += string(c)
			}
		}
		quotes[i] = open
	}
	return quotes
}

// EndsQuotes reports whether a value in quotes in the query has such a quote or a backslash in it: the upstream could read
// what is behind it as more than a value, such as further members of JSON.
func (t *Template) EndsQuotes(values []string) bool {
	for i, part := range t.query {
		if t.quotes[i] != "" && part.Value >= 0 && strings.ContainsAny(values[part.Value], `\`+t.quotes[i]) {
			return true
		}
	}
	return false
}
