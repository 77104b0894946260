package openapi

import (
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/list"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// sentences say what an operation does.
var sentences = map[resource.Kind]string{
	resource.List: "List", resource.Read: "Read", resource.Create: "Create", resource.Replace: "Replace", resource.Update: "Change",
	resource.Delete: "Delete", resource.Batch: "Change several of", resource.Action: "Act on",
}

func (d *document) operation(o *resource.Operation) {
	tag, name := tagOf(o.Path), d.schema(o)
	words := sentences[o.Kind] + " " + strings.TrimPrefix(o.Path, "/")
	responses := object{}
	op := object{"summary": words, "description": words + ".", "responses": responses}
	switch o.Kind {
	case resource.List:
		op["parameters"] = parameters(o.Resource.List)
		responses["200"] = object{
			"description": "A page of the list.",
			"headers":     object{"Link": object{"description": "Where the first, previous, next and last pages are (RFC 8288).", "schema": object{"type": "string"}}},
			"content": d.content(object{
				"type": "object", "required": []string{"data", "pagination"},
				"properties": object{"data": object{"type": "array", "items": ref("schemas", name)}, "pagination": ref("schemas", "Pagination")},
			}),
		}
		refuse(op, 400)
	case resource.Create:
		status, headers := "200", object(nil)
		if o.Resource.Created != nil {
			status = "201"
			headers = object{"Location": object{"description": "The address of what was made.", "schema": object{"type": "string", "format": "uri-reference"}}}
		}
		made := object{"description": "It was made.", "content": d.content(ref("schemas", name))}
		if headers != nil {
			made["headers"] = headers
		}
		responses[status] = made
		if o.Resource.Idempotency {
			op["parameters"] = []object{{
				"name": "Idempotency-Key", "in": "header", "required": false, "description": "The first answer to a key is kept and given again.",
				"schema": object{"type": "string", "minLength": 1},
			}}
			refuse(op, 409, 422)
		}
		d.body(op, o, name)
	case resource.Replace, resource.Update, resource.Action:
		responses["200"] = object{"description": "The resource as it is now.", "content": d.content(ref("schemas", name))}
		d.body(op, o, name)
	case resource.Delete:
		if o.Resource.Deleted == 204 {
			responses["204"] = object{"description": "It is gone."}
		} else {
			responses["200"] = object{"description": "It is gone."}
		}
	case resource.Batch:
		d.batch(op, o)
	default:
		responses["200"] = object{"description": "The resource.", "content": d.content(ref("schemas", name))}
	}
	d.add(o.Method, o.Path, tag, op)
}

// body is the request's.
func (d *document) body(op object, o *resource.Operation, name string) {
	given := ref("schemas", name+"Input")
	required := []string{}
	for _, rule := range o.Resource.Validate {
		if rule.Required && o.Kind != resource.Update && !strings.ContainsAny(rule.Field, "/*") {
			required = append(required, rule.Field)
		}
	}
	if o.Kind == resource.Replace {
		required = append(required, o.Resource.Replace...)
	}
	slices.Sort(required)
	if required = slices.Compact(required); len(required) > 0 {
		given = object{"allOf": []object{given, {"required": required}}}
	}
	op["requestBody"] = object{"required": o.Kind != resource.Action, "content": object{"application/json": object{"schema": given}}}
	refuse(op, 400, 413, 415)
}

func (d *document) batch(op object, o *resource.Operation) {
	var paths []string
	for _, field := range o.Resource.Batch {
		paths = append(paths, "/"+field)
	}
	op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": object{
		"type": "array", "minItems": 1,
		"items": object{
			"type": "object", "required": []string{"id", "op", "path"},
			"properties": object{
				"id": object{"type": []string{"string", "integer"}}, "op": object{"enum": []string{"replace", "remove"}},
				"path": object{"type": "string", "enum": paths}, "value": object{},
			},
		},
	}}}}
	result := object{"type": "object", "required": []string{"data"}, "properties": object{"data": object{
		"type": "array", "items": object{
			"type": "object", "required": []string{"id", "status"},
			"properties": object{"id": object{"type": []string{"string", "integer"}}, "status": object{"type": "integer"}, "data": object{}, "error": object{"type": "object"}},
		},
	}}}
	responses, _ := op["responses"].(object)
	responses["200"] = object{"description": "All changes were made.", "content": d.content(result)}
	responses["207"] = object{"description": "Some changes were not made: each item says what came of it.", "content": d.content(result)}
	refuse(op, 400, 413, 415)
}

// parameters are those of a list.
func parameters(l *list.Config) []object {
	standard, most := 20, 100
	if l.Max != 0 {
		most = l.Max
	} else if l.Default > most {
		most = l.Default
	}
	if l.Default != 0 {
		standard = l.Default
	}
	query := func(name, text string, schema object) object {
		return object{"name": name, "in": "query", "required": false, "description": text, "schema": schema}
	}
	all := []object{
		query("page", "The page, from 1.", object{"type": "integer", "minimum": 1, "default": 1}),
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
		schema := object{"type": "string"}
		if len(f.Values) > 0 {
			schema = words(f.Values)
		}
		all = append(all, query(f.Name.Name, "What to filter by.", schema))
	}
	return all
}

func words(names []list.Name) object {
	var all []string
	for _, n := range names {
		all = append(all, n.Name)
	}
	return object{"type": "string", "enum": all}
}

// tagOf is the first word of a path.
func tagOf(path string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return word
}
