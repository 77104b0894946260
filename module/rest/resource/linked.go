package resource

import (
	"fmt"
	"net/http"
	"slices"
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
			below := len(o.pattern.Segments) - len(s.collection.Segments)
			return o.shape == s && o.Method == method && (below == 0 && o.Kind == Read || below == 1 && o.pattern.Segments[len(o.pattern.Segments)-1].Param)
		}) {
			return fmt.Errorf("links %s: expected an upstream for %s %s/{%s}", l.Rel, method, s.collection.Text, s.config.own(s.collection))
		}
	}
	return nil
}
