package link

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
)

// Link is a link that each resource of a kind contains.
type Link struct {
	// The link relation: `self` and `delete` have default targets, others need `path`. Required.
	Rel string `json:"rel"`
	// The method, in upper case. Default: `GET`, or `DELETE` for `delete`.
	Method string `json:"method,omitempty"`
	// The client's path and optional query, with the placeholders of the resource's id and of its
	// collection: `/articles/{id}/comments`. Default: the resource itself.
	Path string `json:"path,omitempty"`
}

// Names are the placeholders of a resource's path.
type Names struct {
	// Collection are those of its collection, in order: `id` in students/{id}/friends.
	Collection []string
	// Own is the one of its id: `id`, or `sub_id` where that is taken.
	Own string
}

// Set are the relations of one kind of resource.
type Set struct{ links []compiled }

type compiled struct {
	method string
	head   string             // `{"rel":"self","method":"GET","href":"`
	path   []pathpattern.Part // nil: the resource itself
	query  []pathpattern.Part // with its question mark
	own    bool               // the id, the last value, stands in path or query
}

var (
	// relation is a registered type, or an address for one's own (RFC 8288 section 2.1).
	relation = regexp.MustCompile(`^([a-z][a-z0-9.-]*|https?://[!#-;=?-\[\]_a-z~]+)$`)
	address  = regexp.MustCompile(`^(/[A-Za-z0-9._~!$&'()*+,;=:@%{}-]+)+(\?[A-Za-z0-9._~!$&'()*+,;=:@%{}/?-]+)?$`)
	methods  = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
)

// Compile checks relations.
func Compile(links []Link, names Names) (*Set, error) {
	s := new(Set)
	seen := make(map[[2]string]bool, len(links))
	for _, l := range links {
		switch {
		case !relation.MatchString(l.Rel):
			return nil, fmt.Errorf("links %q: expected a relation in lower-case letters, or an address that stands for one", l.Rel)
		case l.Rel == "delete" && l.Method == "":
			l.Method = "DELETE"
		case l.Rel != "self" && l.Rel != "delete" && l.Path == "":
			return nil, fmt.Errorf("links %s: expected self, delete, or name=METHOD:/path", l.Rel)
		case l.Method == "":
			l.Method = "GET"
		}
		if !slices.Contains(methods, l.Method) {
			return nil, fmt.Errorf("links %s: method %q: expected %s", l.Rel, l.Method, strings.Join(methods, ", "))
		}
		if key := [2]string{l.Rel, l.Method}; seen[key] {
			return nil, fmt.Errorf("links %s: it is declared twice with %s", l.Rel, l.Method)
		} else {
			seen[key] = true
		}
		c := compiled{method: l.Method, head: `{"rel":"` + l.Rel + `","method":"` + l.Method + `","href":"`}
		if l.Path != "" {
			if err := c.compile(l.Path, names); err != nil {
				return nil, fmt.Errorf("links %s: %w", l.Rel, err)
			}
		}
		s.links = append(s.links, c)
	}
	return s, nil
}

func (c *compiled) compile(text string, names Names) (err error) {
	path, query, asks := strings.Cut(text, "?")
	bare, alone := pathpattern.WithoutPlaceholders(text)
	if !address.MatchString(text) || alone || !escaped(bare) || strings.Contains(path+"/", "/../") || strings.Contains(path+"/", "/./") {
		return fmt.Errorf("path %q: expected the client's path, escaped, such as /articles/{id}/comments", text)
	}
	for name := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(name, "="); strings.Contains(name, "{") {
			return fmt.Errorf("path %q: expected a placeholder in a value of the query, not in a name", text)
		}
	}
	if asks {
		query = "?" + query
	}
	values := append(slices.Clone(names.Collection), names.Own)
	index := func(name string) (int, error) {
		i := slices.Index(values, name)
		if i < 0 {
			return i, fmt.Errorf("path %q: placeholder {%s}: expected {%s}", text, name, strings.Join(values, "}, {"))
		}
		c.own = c.own || i == len(values)-1
		return i, nil
	}
	if c.path, err = pathpattern.SplitPlaceholders(path, index); err != nil {
		return err
	}
	c.query, err = pathpattern.SplitPlaceholders(query, index)
	return err
}

var percent = regexp.MustCompile(`%([0-9A-Fa-f]{2})?`)

// escaped reports that every % begins an escape.
func escaped(text string) bool {
	return !slices.Contains(percent.FindAllString(text, -1), "%")
}
