package routes

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// checkLinks checks that relations which lead to the resource itself lead to an operation: a link that is
// answered with 405 is worse than none.
func (c *compiled) checkLinks() error {
	for _, l := range c.config.Links {
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
		if !slices.ContainsFunc(c.operations, func(o *Operation) bool {
			below := len(o.pattern.Segments) - len(c.collection.Segments)
			return o.Method == method && (below == 0 && o.Kind == resource.Read || below == 1 && o.pattern.EndsInPlaceholder())
		}) {
			return fmt.Errorf("links %s: expected an upstream for %s %s/{%s}", l.Rel, method, c.collection.Text, itemPlaceholder(c.config, c.collection))
		}
	}
	return nil
}
