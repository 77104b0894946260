package openapi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/rest/list"
)

// parameters are those of a list.
func parameters(l *list.Config) []object {
	standard, most := cmp.Or(l.Default, 20), cmp.Or(l.Max, max(l.Default, 100))
	query := func(name, text string, schema object) object { return parameter("query", name, text, schema) }
	first := query("page", fmt.Sprintf("The page, from 1. The page times the limit is at most %d.", list.Reach), object{"type": "integer", "minimum": 1, "maximum": list.Reach, "default": 1})
	if l.ByCursor() {
		first = query("cursor", "The cursor of the next page: next_cursor of the page before, with the same parameters besides.",
			object{"type": "string", "minLength": 1, "maxLength": list.MaxCursor})
	}
	all := []object{
		first,
		query("limit", "Items on a page.", object{"type": "integer", "minimum": 1, "maximum": most, "default": min(standard, most)}),
	}
	if len(l.Sort) > 0 {
		var fields []string
		for _, n := range l.Sort {
			fields = append(fields, n.Name, "-"+n.Name)
		}
		all = append(all, query("sort", "The field to sort by; with - in front in descending order.", object{"type": "string", "enum": fields}))
	}
	if len(l.States) > 0 {
		all = append(all, query("state", "The state to filter by.", words(l.States)))
	}
	for _, f := range l.Filters {
		schema := text()
		if len(f.Values) > 0 {
			schema = words(f.Values)
		}
		filter := query(f.Name.Name, "What to filter by.", schema)
		filter["required"] = f.Required
		all = append(all, filter)
	}
	return all
}

// passedOn describes the parameters that an operation which is no declared list passes on.
func passedOn(op object, o *routes.Operation) {
	names := o.Requests.PassedOn()
	if len(names) == 0 {
		return
	}
	for _, name := range names {
		schema, about := text(), "Passed on to the API."
		declared := slices.ContainsFunc(o.Resource.Query, func(n list.Name) bool { return n.Name == name })
		switch {
		case declared:
			schema["minLength"] = 0
		case name == "page":
			schema, about = object{"type": "integer", "minimum": 1}, "The page, from 1."
		case name == "limit":
			schema, about = object{"type": "integer", "minimum": 1}, "Items on a page."
		}
		p := parameter("query", name, about, schema)
		if declared {
			p["allowEmptyValue"] = true
		}
		addParameters(op, p)
	}
	refuse(op, 400)
}

// text is the schema of a parameter that may be any text, whose bytes are counted.
func text() object {
	return object{"type": "string", "minLength": 1, "maxLength": list.MaxText, "pattern": `^[^\x00-\x1f\x7f-\x9f]*$`}
}

func words(names []list.Name) object {
	var all []string
	for _, n := range names {
		all = append(all, n.Name)
	}
	return object{"type": "string", "enum": all}
}
