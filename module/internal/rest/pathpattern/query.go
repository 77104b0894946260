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
