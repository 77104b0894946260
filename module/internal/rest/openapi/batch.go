package openapi

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/batch"
	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// batch describes a PATCH of a collection.
func (d *document) batch(op object, o *routes.Operation) {
	op["description"] = "Each resource is changed or not for itself. What is invalid is found before anything is changed. A batch takes neither parameters nor conditions (If-Match)."
	op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": object{
		"type": "array", "minItems": 1, "maxItems": cmp.Or(o.Resource.BatchMax, batch.DefaultMax), "items": d.change(o),
	}}}}
	result := object{"type": "object", "required": []string{"data"}, "properties": object{"data": object{
		"type": "array", "items": object{
			"type": "object", "required": []string{"id", "status"},
			"properties": object{
				"id": object{"type": []string{"string", "integer"}}, "status": object{"type": "integer"},
				"data":  object{"anyOf": []object{ref("schemas", d.read(o)), {"type": "null"}}},
				"error": ref("schemas", "Failure"),
			},
		},
	}}}
	d.answer(op, "200", "All changes were made.", result)
	d.answer(op, "207", "Some changes were not made: each item says what came of it.", result)
	refuse(op, 400, 413, 415)
}

// change is one item of a batch: which member of which resource becomes what. It is held to
// the rules of a PATCH.
func (d *document) change(o *routes.Operation) object {
	rules := declared(o.Resource)
	paths, never, kept := batchPaths(o.Resource)
	path := object{"type": "string", "pattern": "^/([^/~]|~[01])+$", "description": "The JSON Pointer of a field of the resource."}
	if paths != nil {
		path = object{"type": "string", "enum": paths}
	}
	if len(never) > 0 {
		path["not"] = object{"enum": never}
	}
	removed := object{"op": object{"const": "remove"}}
	if kept != nil {
		removed["path"] = object{"not": object{"enum": kept}}
	}
	id := object{"type": []string{"string", "integer"}, "minLength": 1, "maxLength": batch.MaxID}
	if of := o.Item.Expressions(); len(of) > 0 {
		expression(id, of[len(of)-1])
	}
	item := object{
		"type": "object", "required": []string{"id", "op", "path"}, "additionalProperties": false,
		"properties": object{
			"id": id, "op": object{"type": "string", "enum": []string{"replace", "remove"}},
			"path": path, "value": object{"description": "The new value; of replace alone."},
		},
		"oneOf": []object{
			{"properties": object{"op": object{"const": "replace"}}, "required": []string{"value"}},
			{"properties": removed, "not": object{"required": []string{"value"}}},
		},
	}
	var values []object
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		at := splice.Pointer{name}.String()
		if rule, _ := rules[name].(object); len(rule) > 0 && (paths == nil || slices.Contains(paths, at)) {
			values = append(values, object{
				"if":   object{"properties": object{"path": object{"const": at}}, "required": []string{"path"}},
				"then": object{"properties": object{"value": rule}},
			})
		}
	}
	if values != nil {
		item["allOf"] = values
	}
	return item
}

// batchPaths returns the pointers of the members that a batch may change (nil: any), of those that it must not change,
// and of those that it must not remove.
func batchPaths(r *resource.Resource) (all, never, kept []string) {
	rules := tree(r.Validate)
	fields := r.Batch
	if len(fields) == 0 && others(r) {
		fields = slices.Sorted(maps.Keys(rules))
	}
	all, never = pointers(fields), pointers(slices.Concat(r.RefusedNames(), rules.refused()))
	for name, m := range rules {
		if m.rule.Required {
			kept = append(kept, splice.Pointer{name}.String())
		}
	}
	slices.Sort(never)
	slices.Sort(kept)
	if len(fields) > 0 {
		never = slices.DeleteFunc(never, func(at string) bool { return !slices.Contains(all, at) })
	}
	return all, never, kept
}

func pointers(fields []string) (all []string) {
	for _, name := range fields {
		all = append(all, splice.Pointer{name}.String())
	}
	return all
}
