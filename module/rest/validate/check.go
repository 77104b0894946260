package validate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/rest/turns"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Check checks a body that Parse has read. In a partial one, that of a PATCH, no member is
// missing. The rules are checked in their order, then members without a rule, then the schema,
// so that of several faults always the same one is reported. The bodies of one request share left; nil means that
// there is no other one. c is the caller who sent them.
func (s *Set) Check(c turns.Caller, left *Effort, o Object, partial bool) *envelope.Refusal {
	if s == nil {
		return nil
	}
	inside := make(objects)
	for i := range s.rules {
		if refused := s.rules[i].check(o, partial, inside); refused != nil {
			return refused
		}
	}
	if s.only != nil {
		if refused := s.only.check(nil, o, inside); refused != nil {
			return refused
		}
	}
	if s.schema != nil {
		return s.schema.check(c, left, o, partial)
	}
	return nil
}

// objects are the objects inside a body, by their place. Each is parsed once, however many rules are about its members.
type objects map[string]Object

func (all objects) parse(place string, value json.RawMessage) Object {
	o, parsed := all[place]
	if !parsed {
		o, _ = Parse(value) // it is part of a parsed body
		all[place] = o
	}
	return o
}

// UnknownField says why a member is refused that the resource does not have.
const UnknownField = "is not a field of this resource"

// permitted maps the names that an object's members may have to those inside each of them; nil permits any.
type permitted map[string]permitted

// add permits the member at a path, and what leads to it.
func (p permitted) add(path []string) {
	below := p[path[0]]
	if len(path) > 1 {
		if below == nil {
			below = make(permitted)
		}
		below.add(path[1:])
	}
	p[path[0]] = below
}

// check refuses the first member that is not permitted; path leads to the object o.
func (p permitted) check(path []string, o Object, inside objects) *envelope.Refusal {
	for _, m := range o {
		below, ok := p[m.Name]
		at := append(path[:len(path):len(path)], m.Name)
		if !ok {
			return invalid(Field(at...), UnknownField)
		}
		if below == nil || m.Value[0] != '{' {
			continue
		}
		if refused := below.check(at, inside.parse(Field(at...), m.Value), inside); refused != nil {
			return refused
		}
	}
	return nil
}

func (c *compiled) check(o Object, partial bool, inside objects) *envelope.Refusal {
	field := Field(c.path...)
	// Down to the object that contains the member.
	for i, name := range c.path[:len(c.path)-1] {
		value := o.Get(name)
		if value == nil || value[0] == 'n' {
			return nil
		}
		place := Field(c.path[:i+1]...)
		if value[0] != '{' {
			return invalid(place, "must be an object")
		}
		o = inside.parse(place, value)
	}
	value := o.Get(c.path[len(c.path)-1])
	switch {
	case c.Readonly:
		if value != nil {
			return invalid(field, "cannot be written")
		}
		return nil
	case value == nil:
		if c.Required && !partial {
			return invalid(field, "is required")
		}
		return nil
	case value[0] == 'n':
		if c.Required {
			return invalid(field, "is required, and must not be null")
		}
		return nil
	}
	if message := c.judge(value); message != "" {
		return invalid(field, message)
	}
	return nil
}

// judge says what a value must be, or "" if it is valid.
func (c *compiled) judge(value json.RawMessage) string {
	switch {
	case c.Enum != nil:
		if value[0] == '{' || value[0] == '[' || !slices.Contains(c.Enum, scalar(value)) {
			return "must be one of: " + strings.Join(c.Enum, ", ")
		}
	case c.text:
		if value[0] != '"' || !c.fits(text(value)) {
			return c.textMessage()
		}
	case c.number:
		if !(value[0] == '-' || value[0] >= '0' && value[0] <= '9') || !c.within(string(value)) {
			return c.numberMessage()
		}
	}
	return ""
}

// scalar returns the content of a string, and any other value as it is written.
func scalar(value json.RawMessage) string {
	if value[0] == '"' {
		return text(value)
	}
	return string(value)
}

func (c *compiled) fits(text string) bool {
	if l := c.Length; l != nil {
		if n := utf8.RuneCountInString(text); n < l[0] || l[1] != 0 && n > l[1] {
			return false
		}
	}
	return (c.Format == "" || formats[c.Format].fits(text)) && (c.pattern == nil || c.pattern.MatchString(text))
}

func (c *compiled) textMessage() string {
	message := "must be a text"
	if c.Format != "" {
		message = "must be " + formats[c.Format].form
	}
	if l := c.Length; l != nil {
		switch {
		case l[1] == 0:
			message += " of at least " + strconv.Itoa(l[0]) + " characters"
		case l[0] == l[1]:
			message += " of " + strconv.Itoa(l[0]) + " characters"
		default:
			message += " of " + strconv.Itoa(l[0]) + " to " + strconv.Itoa(l[1]) + " characters"
		}
	}
	if c.pattern != nil {
		message += " of the form " + c.Pattern
	}
	return message
}

// within reports whether a literal is within the bounds. A whole number must be written in
// digits: some upstreams read 1e2 and 1.0 as 1.
func (c *compiled) within(literal string) bool {
	if c.Integer && strings.ContainsAny(literal, ".eE") {
		return false
	}
	if c.min == nil && c.max == nil {
		return true
	}
	d := parseDecimal(literal)
	return (c.min == nil || d.compare(*c.min) >= 0) && (c.max == nil || d.compare(*c.max) <= 0)
}

func (c *compiled) numberMessage() string {
	message := "must be a number"
	if c.Integer {
		message = "must be a whole number"
	}
	switch {
	case c.Min != "" && c.Max != "":
		message += " from " + string(c.Min) + " to " + string(c.Max)
	case c.Min != "":
		message += " of at least " + string(c.Min)
	case c.Max != "":
		message += " of at most " + string(c.Max)
	}
	return message
}
