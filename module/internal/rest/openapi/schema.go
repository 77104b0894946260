package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/routes"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
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

// read is the name of the schema of a resource as it is answered. It names members and
// promises nothing of their values: the upstream's answers are not judged, and what is stored
// may be older than the rules for what is sent.
func (d *document) read(o *routes.Operation) string {
	return d.schema(o, false, func() object {
		shown, r := make(object), o.Resource
		for _, field := range named(r) {
			shown[field] = object{}
		}
		maps.Copy(shown, d.files.Members(o.Rules))
		maps.Copy(shown, tree(r.Validate).shown())
		for field, words := range r.Values {
			all := slices.Sorted(maps.Keys(words))
			shown[field] = object{"description": "One of " + strings.Join(all, ", ") + ", or another value of the API's.", "examples": []string{all[0]}}
		}
		placed(shown, r)
		if len(r.Links) > 0 {
			shown["links"] = object{"type": "array", "items": ref("schemas", "Link")}
		}
		return object{"properties": shown}
	})
}

// sent is the name of the schema of what is declared of a body, apart from what must be in it.
func (d *document) sent(o *routes.Operation) string {
	return d.schema(o, true, func() object {
		r := o.Resource
		s := object{"type": "object", "properties": declared(r)}
		if others(r) {
			s["properties"], s["additionalProperties"] = tree(r.Validate).properties(r.Values, true), false
		}
		refuseNames(s, slices.Concat(r.RefusedNames(), tree(r.Validate).refused()))
		s["description"] = "Other spellings of these names (in case, or with spaces or dots for underscores) are refused."
		return s
	})
}

// others reports that members without a rule are refused.
func others(r *resource.Resource) bool {
	return slices.ContainsFunc(r.Validate, func(rule validate.Rule) bool { return rule.Field == "*" })
}

func (d *document) schema(o *routes.Operation, sent bool, make func() object) string {
	words := validate.Identifier(param.ReplaceAllString(o.Path, ""))
	key := made{o.Resource, words, sent}
	if name := d.made[key]; name != "" {
		return name
	}
	base := cmp.Or(words, "Root")
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
func (d *document) asked(op object, o *routes.Operation) object {
	if !o.Requests.ReadsBody() {
		return object{"type": "object"} // it passes as it comes
	}
	all := []object{ref("schemas", d.sent(o))}
	if o.Resource.Schema != nil {
		if body, ok := d.files.Body(o.Rules, o.Kind == resource.Update).(object); ok {
			all = append(all, body)
		} else {
			op["description"] = fmt.Sprint(op["description"], " The body is also held to a schema that is too large to be shown.")
		}
	}
	if must := required(o); must != nil {
		all = append(all, must)
	}
	if names := o.Requests.Withheld(); len(names) > 0 {
		refused := make(object)
		refuseNames(refused, names)
		all = append(all, refused)
	}
	if len(all) == 1 {
		return all[0]
	}
	return object{"allOf": all}
}

// required is what must be in a body, on all levels; nil for nothing. A PATCH may leave
// everything out.
func required(o *routes.Operation) object {
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

// named are the members that something is said of beside constraints.
func named(r *resource.Resource) []string {
	return slices.Concat(slices.Collect(maps.Keys(r.Rename)), slices.Collect(maps.Keys(r.Values)), r.Replace, r.Batch)
}

// declared are the members of a request that something is said of.
func declared(r *resource.Resource) object {
	all := object{}
	for _, field := range named(r) {
		all[field] = object{}
	}
	rules := tree(r.Validate)
	maps.Copy(all, rules.properties(nil, false))
	for field, words := range r.Values {
		var rule validate.Rule
		if m := rules[field]; m != nil {
			rule = m.rule
		}
		all[field] = worded(rule, words)
	}
	for _, field := range rules.refused() {
		delete(all, field)
	}
	return all
}

// worded is a member of a request that has words for its values.
func worded(rule validate.Rule, words map[string]string) object {
	rule.Enum = slices.Sorted(maps.Keys(words))
	return object{"type": orNull(rule, "string"), "enum": enumeration(rule, false)}
}

// placed adds to the members of an answer those that are read from inside the resource, and
// takes away what does not reach clients.
func placed(shown object, r *resource.Resource) {
	for _, text := range r.Drop {
		at := pathOf(text)
		if _, ours := r.Rename[at[0]]; !ours {
			without(shown, at)
		}
	}
	refused := r.RefusedNames()
	for ours := range r.Lift {
		member, _ := shown[ours].(object)
		if member == nil {
			member = object{}
			shown[ours] = member
		}
		if slices.Contains(refused, ours) {
			member["readOnly"] = true
		}
	}
}

// without takes a member out of those of an object, or of one inside it.
func without(members object, at splice.Pointer) {
	if len(at) == 1 {
		delete(members, at[0])
		return
	}
	member, _ := members[at[0]].(object)
	if inside, ok := member["properties"].(object); ok {
		without(inside, at[1:])
	}
}
