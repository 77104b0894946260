package pathpattern

import (
	"net/url"
	"strings"
)

// QuotesAround returns the quotes that the value behind each part of a text may be in.
func QuotesAround(parts []Part) []string { return quotesAround(parts, QuotesBetween) }

// QuotesBetween returns the quotes that a value between two texts may be in: they are open behind the first, and the second has
// another. An apostrophe, as in it's, opens none.
func QuotesBetween(before, after string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(after, c) {
			return c
		}
		return -1
	}, openQuotes(before))
}

// quotesAround calls between with what is in front of and behind each value.
func quotesAround(parts []Part, between func(before, after string) string) []string {
	quotes := make([]string, len(parts))
	before, after := "", ""
	for _, part := range parts {
		after += part.Text
	}
	for i, part := range parts {
		before, after = before+part.Text, after[len(part.Text):]
		if part.Value >= 0 {
			quotes[i] = between(before, after)
			before += "x"
		}
	}
	return quotes
}

// quotesInPath returns the quotes that the value behind each part of a path may be in. OData has slashes inside quotes, as in
// Files/add(url='in/{name}'), and in a name such as it's no quote opens. So a quote may open in any segment, but is open
// behind a slash only if another one follows the value.
func quotesInPath(parts []Part) []string {
	return quotesAround(parts, func(before, after string) string {
		segments := strings.Split(before, "/")
		last := len(segments) - 1
		quotes := openQuotes(decodePart(segments[last]))
		for i := range last {
			quotes += QuotesBetween(decodePart(strings.Join(segments[i:], "/")), decodePart(after))
		}
		return quotes
	})
}

// quotesInQuery returns the quotes that the value behind each part of a query may be in, in JSON or an expression of OData.
// They end with their parameter.
func quotesInQuery(parts []Part) []string {
	return quotesAround(parts, func(before, _ string) string {
		return openQuotes(decodePart(before[strings.LastIndexByte(before, '&')+1:]))
	})
}

// decodePart decodes a part of a path or query that ParseTemplate has read.
func decodePart(text string) string {
	text, _ = url.QueryUnescape(text)
	return text
}

// escapes remove the quotes that a backslash makes a part of the text, as in JSON and MySQL. OData and other SQL have none.
var escapes = strings.NewReplacer(`\\`, "", `\"`, "", `\'`, "")

// openQuotes returns the quotes that may be open behind a text, to an API that heeds backslashes or to one that does not.
func openQuotes(text string) string { return unclosed(escapes.Replace(text)) + unclosed(text) }

// unclosed returns the quotes that no other closes. One kind may be inside the other.
func unclosed(text string) string {
	open := ""
	for _, c := range text {
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
	return EndQuotesOf(t.path, t.inPath, values) || EndQuotesOf(t.query, t.inQuery, values)
}

// EndQuotesOf is EndQuotes for the values that fill parts. quotes are those that the value behind each part is in.
func EndQuotesOf(parts []Part, quotes, values []string) bool {
	for i, part := range parts {
		if part.Value >= 0 && EndQuotes(quotes[i], values[part.Value]) {
			return true
		}
	}
	return false
}
