package resource

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// linked checks that the relations which lead to the resource itself lead to something:
// a link that is answered 405 is worse than none.
func (t *Table) linked(s *shape) error {
	for _, l := range s.config.Links {
		if l.Path != "" {
			continue // it may lead to what other handlers answer
		}
		method := l.Method
		switch {
		case method == "" && l.Rel == "delete":
			method = http.MethodDelete
		case method == "":
			method = http.MethodGet
		}
		if !slices.ContainsFunc(t.operations, func(o *Operation) bool {
			below := len(o.pattern.segments) - len(s.collection.segments)
			return o.shape == s && o.Method == method && (below == 0 && o.Kind == Read || below == 1 && o.pattern.segments[len(o.pattern.segments)-1].param)
		}) {
			return fmt.Errorf("links %s: expected an upstream for %s %s/{%s}", l.Rel, method, s.collection.text, s.config.own(s.collection))
		}
	}
	return nil
}

// leaves checks that the query of a template has none of the parameters that a word
// sends besides: of two values some upstreams believe the first one, some the last.
func (t *template) leaves(word string, parameters []string) error {
	_, query, _ := strings.Cut(t.text, "?")
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		if name, err := url.QueryUnescape(name); err == nil && part != "" && slices.Contains(parameters, name) {
			return fmt.Errorf("%s: it sends %s: expected an address without that parameter", word, name)
		}
	}
	return nil
}
