package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// schema makes the two schemas of a resource, as it is read and as it is sent, and gives
// their name. What is declared is said; what else a resource has the gateway does not know.
func (d *document) schema(o *resource.Operation) string {
	var name string
	for word := range strings.SplitSeq(param.ReplaceAllString(o.Path, ""), "/") {
		for part := range strings.FieldsFuncSeq(other.ReplaceAllString(word, " "), func(c rune) bool { return c == ' ' }) {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	if name == "" {
		name = "Root"
	}
	if common()[name] != nil {
		name += "Resource"
	}
	if d.schemas[name] != nil {
		return name
	}
	read, sent := object{}, object{}
	r := o.Resource
	for _, field := range slices.Sorted(maps.Keys(r.Rename)) {
		read[field], sent[field] = object{}, object{}
	}
	for _, field := range append(slices.Clone(r.Replace), r.Batch...) {
		read[field], sent[field] = object{}, object{}
	}
	for _, rule := range r.Validate {
		if strings.ContainsAny(rule.Field, "/*") {
			continue // nested members are judged, and not described
		}
		read[rule.Field] = property(rule)
		if sent[rule.Field] = property(rule); rule.Readonly {
			delete(sent, rule.Field)
		}
	}
	for field, values := range r.Values {
		enum := object{"type": "string", "enum": slices.Sorted(maps.Keys(values))}
		read[field] = enum
		if !slices.ContainsFunc(r.Validate, func(v validate.Rule) bool { return v.Field == field && v.Readonly }) {
			sent[field] = enum
		}
	}
	if len(r.Links) > 0 {
		read["links"] = object{"type": "array", "items": ref("schemas", "Link")}
	}
	d.schemas[name] = object{"type": "object", "properties": read}
	d.schemas[name+"Input"] = object{"type": "object", "properties": sent}
	return name
}

// property is the schema of a member that is held to constraints.
func property(rule validate.Rule) object {
	p := object{}
	switch {
	case rule.Integer:
		p["type"] = "integer"
	case rule.Min != "" || rule.Max != "":
		p["type"] = "number"
	case rule.Length != nil || rule.Format != "" || rule.Pattern != "":
		p["type"] = "string"
	}
	if rule.Length != nil {
		p["minLength"] = rule.Length[0]
		if rule.Length[1] > 0 {
			p["maxLength"] = rule.Length[1]
		}
	}
	for name, bound := range map[string]json.Number{"minimum": rule.Min, "maximum": rule.Max} {
		if bound != "" {
			p[name] = bound
		}
	}
	if len(rule.Enum) > 0 {
		var enum []any
		for _, text := range rule.Enum {
			if literal := json.RawMessage(text); rule.Integer && json.Valid(literal) {
				enum = append(enum, literal)
				continue
			}
			enum = append(enum, text)
		}
		p["enum"] = enum
	}
	if rule.Format != "" {
		p["format"] = rule.Format
	}
	if rule.Pattern != "" {
		p["pattern"] = "^(?:" + rule.Pattern + ")$"
	}
	if rule.Readonly {
		p["readOnly"] = true
	}
	return p
}
