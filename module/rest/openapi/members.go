package openapi

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/gatehouse/gatehouse/module/rest/splice"
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
		path := splice.Pointer{rule.Field}
		if rule.Field == "*" {
			continue
		}
		if deep(rule.Field) {
			path, _ = splice.ParsePointer(rule.Field) // checked when it was compiled
		}
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

// properties are the schemas of members, those of the outermost level with words in the
// place of values.
func (all members) properties(words map[string]map[string]string) object {
	properties := make(object, len(all))
	for name, m := range all {
		p := property(m.rule)
		if len(m.below) > 0 {
			p["type"], p["properties"] = "object", m.below.properties(nil)
		}
		properties[name] = p
		if w, ok := words[name]; ok {
			properties[name] = worded(p, w)
		}
	}
	return properties
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
			enum = append(enum, text)
			if literal := json.RawMessage(text); json.Valid(literal) && text != "null" && text[0] != '{' && text[0] != '[' && text[0] != '"' {
				enum = append(enum, literal) // a number, true or false is as good
			}
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
