package openapi

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/resource"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// member is a member that is held to constraints, or has members that are.
type member struct {
	rule  validate.Rule
	below members
}

type members map[string]*member

// tree sorts rules by where their members are nested.
func tree(rules []validate.Rule) members {
	top := make(members)
	for _, rule := range rules {
		if rule.Field == "*" {
			continue
		}
		path := pathOf(rule.Field)
		at := top
		for i, name := range path {
			m := at[name]
			if m == nil {
				m = &member{below: make(members)}
				at[name] = m
			}
			if at = m.below; i == len(path)-1 {
				m.rule = rule
			}
		}
	}
	return top
}

// pathOf returns the steps to a member that a name or a pointer, which was checked, stands for.
func pathOf(field string) splice.Pointer {
	if !resource.IsPointer(field) {
		return splice.Pointer{field}
	}
	path, _ := splice.ParsePointer(field)
	return path
}

// properties are the schemas of members in a request, those of the outermost level with
// words in the place of values. Those that must not be sent are left out: see refused. only says that objects have no other
// members.
func (all members) properties(words map[string]map[string]string, only bool) object {
	properties := make(object, len(all))
	for name, m := range all {
		if m.rule.Readonly {
			continue
		}
		p := property(m.rule)
		if len(m.below) > 0 {
			p["type"], p["properties"] = orNull(m.rule, "object"), m.below.properties(nil, only)
			if only {
				p["additionalProperties"] = false
			}
			refuseNames(p, m.below.refused())
		}
		if w, ok := words[name]; ok {
			p = worded(m.rule, w)
		}
		properties[name] = p
	}
	return properties
}

// refused are the names of members that must not be sent. They are no readOnly properties,
// which validators take out of a request before they judge it.
func (all members) refused() (names []string) {
	for name, m := range all {
		if m.rule.Readonly {
			names = append(names, name)
		}
	}
	return names
}

// refuseNames says in the schema of an object which names its members must not have.
func refuseNames(schema object, names []string) {
	if len(names) > 0 {
		slices.Sort(names)
		schema["propertyNames"] = object{"not": object{"enum": slices.Compact(names)}}
	}
}

// shown are the members as answers have them, by their names alone: what is stored may be
// older than the rules, and the upstream may write a member in another way than it reads it.
func (all members) shown() object {
	shown := make(object, len(all))
	for name, m := range all {
		p := example(m.rule)
		if len(m.below) > 0 {
			p["properties"] = m.below.shown()
		}
		if m.rule.Readonly {
			p["readOnly"] = true
		}
		shown[name] = p
	}
	return shown
}

// required says what must be there where what it is nested in is; nil for nothing.
func (all members) required() object {
	var must []string
	below := object{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].rule.Required {
			must = append(must, name)
		}
		if r := all[name].below.required(); r != nil {
			below[name] = r
		}
	}
	if len(must)+len(below) == 0 {
		return nil
	}
	s := object{}
	if len(must) > 0 {
		s["required"] = must
	}
	if len(below) > 0 {
		s["properties"] = below
	}
	return s
}

// orNull is a type as the gateway judges it: null is as good as no member, unless the member
// is required.
func orNull(rule validate.Rule, name string) any {
	if rule.Required {
		return name
	}
	return []string{name, "null"}
}

// property is the schema of a member in a request that is held to constraints.
func property(rule validate.Rule) object {
	p := object{}
	switch {
	case rule.Integer:
		p["type"] = orNull(rule, "integer")
	case rule.Min != "" || rule.Max != "":
		p["type"] = orNull(rule, "number")
	case rule.Length != nil || rule.Format != "" || rule.Pattern != "":
		p["type"] = orNull(rule, "string")
	case rule.Required && len(rule.Enum) == 0:
		p["not"] = object{"type": "null"}
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
		p["enum"] = enumeration(rule, true)
	}
	if rule.Format != "" {
		p["format"] = rule.Format
	}
	expression(p, rule.Pattern)
	return p
}

// enumeration returns the values that a rule with a list of them permits. literals says that a number, true or false
// may be written as such.
func enumeration(rule validate.Rule, literals bool) (enum []any) {
	for _, text := range rule.Enum {
		enum = append(enum, text)
		if literal := json.RawMessage(text); literals && json.Valid(literal) && text != "null" && text[0] != '{' && text[0] != '[' && text[0] != '"' {
			enum = append(enum, literal)
		}
	}
	if !rule.Required {
		enum = append(enum, nil)
	}
	return enum
}

// example is a member in an answer, with a value that it may well have.
func example(rule validate.Rule) object {
	switch {
	case len(rule.Enum) > 0:
		return object{"examples": []any{rule.Enum[0]}}
	case rule.Min != "":
		return object{"examples": []any{rule.Min}}
	case rule.Max != "":
		return object{"examples": []any{rule.Max}}
	case rule.Integer:
		return object{"examples": []any{1}}
	}
	return object{}
}
