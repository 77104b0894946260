package routes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/pathpattern"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// collectionPath returns the path of a collection. One that is nested in another belongs to each item
// of that.
func collectionPath(parent pathpattern.Pattern, path string) string {
	switch {
	case parent.Text != "" && !strings.HasPrefix(path, "{") && !strings.HasPrefix("/"+path+"/", parent.Text+"/"):
		return conventionalItem(parent) + "/" + path
	case parent.Text != "" && strings.HasPrefix(path, "{"):
		return parent.Text + "/" + path
	}
	return "/" + path
}

// ItemPath returns the conventional path of an item of a resource. paths are those of the resources that it
// is nested in, from the outermost one, and its own.
func ItemPath(paths ...string) (string, error) {
	var collection pathpattern.Pattern
	for _, path := range paths {
		var err error
		if collection, err = pathpattern.Parse(collectionPath(collection, strings.Trim(path, "/"))); err != nil {
			return "", err
		}
	}
	return conventionalItem(collection), nil
}

func conventionalItem(collection pathpattern.Pattern) string {
	return collection.Text + "/{" + freePlaceholder(collection) + "}"
}

// placeholderExpressions returns the expressions of an outer resource together with those that the
// paths of a resource give.
func placeholderExpressions(outer pathpattern.Expressions, collection pathpattern.Pattern, routes []resource.Route) (pathpattern.Expressions, error) {
	all := outer.Clone()
	if err := all.Add(collection); err != nil {
		return nil, err
	}
	for _, r := range routes {
		p, err := pathpattern.Parse(r.Path)
		if err == nil {
			err = all.Add(p)
		}
		if err != nil {
			return nil, fmt.Errorf("upstream %s %s: %w", r.Method, r.Path, err)
		}
	}
	return all, nil
}

// conventionalRoutes returns the routes of a resource that declares none.
func conventionalRoutes(collection pathpattern.Pattern) []resource.Route {
	item := conventionalItem(collection)
	var routes []resource.Route
	for _, m := range []string{"GET", "POST"} {
		routes = append(routes, resource.Route{Method: m, Path: collection.Text, Upstream: collection.Text})
	}
	for _, m := range []string{"GET", "PUT", "PATCH", "DELETE"} {
		routes = append(routes, resource.Route{Method: m, Path: item, Upstream: item})
	}
	return routes
}

// freePlaceholder returns the conventional placeholder of an item's id: `id`, and `sub_id` and
// `sub_sub_id` if the collection's path has those before.
func freePlaceholder(collection pathpattern.Pattern) string {
	name := "id"
	for slices.Contains(collection.Names, name) {
		name = "sub_" + name
	}
	return name
}

// itemPlaceholder returns the placeholder of an item's id: the one of the first route that has one, or
// the conventional one.
func itemPlaceholder(r *resource.Resource, collection pathpattern.Pattern) string {
	for _, route := range r.Routes {
		p, err := pathpattern.Parse(route.Path)
		if at := len(collection.Segments); err == nil && len(p.Segments) > at && p.Extends(collection) && p.Segments[at].Param {
			return p.Segments[at].Text
		}
	}
	return freePlaceholder(collection)
}

// hasItems reports whether any of the routes leads to one item of the collection.
func hasItems(collection pathpattern.Pattern, routes []resource.Route) bool {
	return slices.ContainsFunc(routes, func(r resource.Route) bool {
		p, err := pathpattern.Parse(r.Path)
		at := len(collection.Segments)
		return err == nil && len(p.Segments) == at+1 && p.Extends(collection) && p.Segments[at].Param
	})
}

// readsItems reports whether one item of the collection can be read at its address.
func readsItems(collection pathpattern.Pattern, routes []resource.Route) bool {
	return hasItems(collection, slices.DeleteFunc(slices.Clone(routes), func(r resource.Route) bool { return r.Method != http.MethodGet }))
}
