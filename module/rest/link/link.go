package link

import (
	"fmt"
	"net/url"
	"strings"
)

// Link is a relation of each resource of a kind.
type Link struct {
	// The relation: `self` and `delete` are known, others say where they lead.
	Rel string `json:"rel"`
	// The method, in capitals. Default: `GET`, of `delete` `DELETE`.
	Method string `json:"method,omitempty"`
	// The client's path, with `{id}` for the resource's id and the placeholders of its
	// collection. Default: the resource itself.
	Path string `json:"path,omitempty"`
}

// Set are the relations of one kind of resource.
type Set struct{ links []Link }

// Place is where a resource stands for the client.
type Place struct {
	// Prefix is what stands before every path, such as "/v1"; "" for nothing.
	Prefix string
	// Collection is the path of the collection, escaped, its placeholders filled in.
	Collection string
	// Params are the decoded values of those placeholders by their names.
	Params map[string]string
}

// Compile checks relations.
func Compile(links []Link) (*Set, error) {
	s := new(Set)
	for _, l := range links {
		switch {
		case l.Rel == "":
			return nil, fmt.Errorf("links: expected a relation")
		case l.Rel == "delete" && l.Method == "":
			l.Method = "DELETE"
		case l.Rel != "self" && l.Path == "" && l.Method == "":
			return nil, fmt.Errorf("links %s: expected self, delete or name=METHOD:/path", l.Rel)
		}
		if l.Method == "" {
			l.Method = "GET"
		}
		s.links = append(s.links, l)
	}
	return s, nil
}

// Append adds `"links":[...]` for the resource with an id. allowed says whether the
// caller may use a method on a path; nil allows everything.
func (s *Set) Append(dst []byte, at Place, id string, allowed func(method, path string) bool) []byte {
	dst = append(dst, `"links":[`...)
	first := true
	for _, l := range s.links {
		path := at.Prefix + at.Collection + "/" + url.PathEscape(id)
		if l.Path != "" {
			path = l.Path
			for name, value := range at.Params {
				path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
			}
			path = at.Prefix + strings.ReplaceAll(path, "{id}", url.PathEscape(id))
		}
		if allowed != nil && !allowed(l.Method, path) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = fmt.Appendf(dst, `{"rel":%q,"method":%q,"href":%q}`, l.Rel, l.Method, path)
	}
	return append(dst, ']')
}
