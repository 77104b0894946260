package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// made is a schema of a resource's, as it is read or sent; operations below an item may
// be about something else, so it is the words of the path that count.
type made struct {
	resource *resource.Resource
	words    string
	sent     bool
}

// read is the name of the schema of a resource as it is answered. What is declared is said;
// what else a resource has the gateway does not know. Nothing is promised to be there:
// the upstream's answers are not judged.
func (d *document) read(o *resource.Operation) string {
	return d.schema(o, false, func() object {
		shown, r := make(object), o.Resource
		maps.Copy(shown, d.files.Members(o.Rules()))
		maps.Copy(shown, declared(r))
		if len(r.Links) > 0 {
			shown["links"] = object{"type": "array", "items": ref("schemas", "Link")}
		}
		return object{"type": "object", "properties": shown}
	})
}

// sent is the name of the schema of what is declared of a body, apart from what must be in it.
func (d *document) sent(o *resource.Operation) string {
	return d.schema(o, true, func() object {
		r := o.Resource
		s := object{"type": "object", "properties": declared(r)}
		if slices.ContainsFunc(r.Validate, func(rule validate.Rule) bool { return rule.Field == "*" }) {
			s["properties"], s["additionalProperties"] = tree(r.Validate).properties(r.Values), false
		}
		return s
	})
}

func (d *document) schema(o *resource.Operation, sent bool, make func() object) string {
	words := validate.Identifier(param.ReplaceAllString(o.Path, ""))
	key := made{o.Resource, words, sent}
	if name := d.made[key]; name != "" {
		return name
	}
	base := words
	if base == "" {
		base = "Root"
	}
	if sent {
		base += "Input"
	}
	name := validate.Unused(d.schemas, base)
	d.made[key] = name
	d.schemas[name] = true // taken, while schemas of files are given names
	d.schemas[name] = make()
	return name
}

// asked is the schema of a body: what is declared, what a file says, and what must be there.
func (d *document) asked(op object, o *resource.Operation) object {
	var all []object
	if name := d.sent(o); len(d.properties(name)) > 0 {
		all = append(all, ref("schemas", name))
	}
	if o.Resource.Schema != nil {
		if body, ok := d.files.Body(o.Rules(), o.Kind == resource.Update).(object); ok {
			all = append(all, body)
		} else {
			op["description"] = fmt.Sprint(op["description"], " The body is also held to a schema that is too large to be shown.")
		}
	}
	if must := required(o); must != nil {
		all = append(all, must)
	}
	switch len(all) {
	case 0:
		return object{"type": "object"}
	case 1:
		return all[0]
	}
	return object{"allOf": all}
}

func (d *document) properties(name string) object {
	s, _ := d.schemas[name].(object)
	properties, _ := s["properties"].(object)
	return properties
}

// required is what must be in a body, on all levels; nil for nothing. A PATCH may leave
// everything out.
func required(o *resource.Operation) object {
	if o.Kind == resource.Update {
		return nil
	}
	must := tree(o.Resource.Validate).required()
	if o.Kind == resource.Replace && len(o.Resource.Replace) > 0 {
		if must == nil {
			must = object{}
		}
		outermost, _ := must["required"].([]string)
		outermost = append(outermost, o.Resource.Replace...)
		slices.Sort(outermost)
		must["required"] = slices.Compact(outermost)
	}
	return must
}

// declared are the members that something is said of.
func declared(r *resource.Resource) object {
	all := object{}
	for _, field := range slices.Concat(slices.Collect(maps.Keys(r.Rename)), r.Replace, r.Batch) {
		all[field] = object{}
	}
	for field := range r.Values {
		all[field] = object{}
	}
	maps.Copy(all, tree(r.Validate).properties(nil))
	for field, p := range all {
		if words, ok := r.Values[field]; ok {
			all[field] = worded(p, words)
		}
	}
	return all
}

// worded is a member that has words for its values.
func worded(property any, words map[string]string) object {
	p, _ := property.(object)
	p = maps.Clone(p)
	if p == nil {
		p = object{}
	}
	p["type"], p["enum"] = "string", slices.Sorted(maps.Keys(words))
	return p
}

// deep reports whether a rule is of a member that is nested in another.
func deep(field string) bool { return strings.HasPrefix(field, "/") }
