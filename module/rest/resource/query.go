package resource

import (
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/list"
)

// checkQuery refuses parameters that could not be told from others.
func (r *Resource) checkQuery() error {
	var theirs []string
	for i, n := range r.Query {
		switch {
		case n.Name == "" || OverridesByQuery(n.Name) || OverridesByQuery(n.Their()):
			return fmt.Errorf("query %s: expected the name of a parameter that is no method", n.Name)
		case slices.ContainsFunc(r.Query[:i], func(other list.Name) bool { return other.Name == n.Name }) || slices.Contains(theirs, n.Their()):
			return fmt.Errorf("query %s is given twice", n.Name)
		}
		theirs = append(theirs, n.Their())
	}
	return nil
}

// ParameterName returns the client's name of an upstream's parameter.
func (r *Resource) ParameterName(theirs string) string {
	for _, n := range r.Query {
		if n.Their() == theirs {
			return n.Name
		}
	}
	if r.List != nil {
		for _, f := range r.List.Filters {
			if f.Their() == theirs {
				return f.Name.Name
			}
		}
	}
	return theirs
}

// ConventionalParameters are the parameters of a list that an upstream with the conventional paths knows.
var ConventionalParameters = []string{"page", "limit", "sort", "state"}
