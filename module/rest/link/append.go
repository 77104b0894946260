package link

import (
	"net/url"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// Place is where a resource stands for the client.
type Place struct {
	// Prefix is what stands before every path, escaped, such as "/v1"; "" for nothing.
	Prefix string
	// Base is the escaped path of the resource, Prefix included, up to its id: with a slash
	// at the end, unless it is a Document.
	Base string
	// Values are the decoded values of those placeholders, in order.
	Values []string
	// Document says that Base is the whole path: the resource has no id in it.
	Document bool
}

// Append adds `"links":[...]` for the resource with an id, decoded; "" for one without:
// then it has none of the relations that need it. allowed says whether
// the caller may use a method on an escaped path without its query; nil allows everything.
// A value is escaped for its place: it can add neither a segment nor a parameter.
func (s *Set) Append(dst []byte, at Place, id string, allowed func(method, path string) bool) []byte {
	dst = append(dst, `"links":[`...)
	self, first := at.Base, true
	if !at.Document {
		self += url.PathEscape(id)
	}
	for _, l := range s.links {
		if id == "" && (l.own || l.path == nil && !at.Document) {
			continue
		}
		path := self
		if l.path != nil {
			path = at.Prefix + string(fill(nil, l.path, at.Values, id, url.PathEscape))
		}
		if allowed != nil && !allowed(l.method, path) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, l.head...)
		dst = inString(dst, path)
		dst = fill(dst, l.query, at.Values, id, pathpattern.EscapeQuery)
		dst = append(dst, `"}`...)
	}
	return append(dst, ']')
}

func fill(dst []byte, parts []pathpattern.Part, values []string, id string, escape func(string) string) []byte {
	for _, p := range parts {
		dst = append(dst, p.Text...)
		switch {
		case p.Value == len(values):
			dst = append(dst, escape(id)...)
		case p.Value >= 0:
			dst = append(dst, escape(values[p.Value])...)
		}
	}
	return dst
}

// inString writes a path into a JSON string. Escaped paths have nothing in them that
// would end it; a prefix that some handler in front left unescaped could.
func inString(dst []byte, path string) []byte {
	const hex = "0123456789abcdef"
	from := 0
	for i := range len(path) {
		if c := path[i]; c < ' ' || c == '"' || c == '\\' {
			dst = append(append(dst, path[from:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			from = i + 1
		}
	}
	return append(dst, path[from:]...)
}
