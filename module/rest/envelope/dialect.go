package envelope

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/splice"
)

// From says where an upstream's errors have what a client is told. When there is one,
// only the kinds that are named are read; without any, JSON, HTML and plain text are
// read as far as they explain themselves.
type From struct {
	// The kind of body: `json` or `html`. Of HTML the title is read, or the first heading.
	Kind Kind `json:"kind"`
	// JSON Pointer (RFC 6901) to the error's code. One of lower case letters, digits and
	// underscores becomes the `code`. Any other is for people: it is the message of an
	// error that has none, and else not shown.
	Code string `json:"code,omitempty"`
	// JSON Pointer to the error's text. Without any pointer the usual places are looked at.
	Message string `json:"message,omitempty"`
	// JSON Pointer to the name of the offending parameter.
	Field string `json:"field,omitempty"`
}

// FailWhen is a condition under which an answer with a status of success and a body of
// JSON is a failure. The first one that holds decides.
type FailWhen struct {
	// JSON Pointer (RFC 6901) to a value of the answer.
	Pointer string `json:"pointer,omitempty"`
	// `==` (any of the values), `!=` (none of them), `<`, `<=`, `>`, `>=`, `exists` or
	// `missing`. But for the last, a value that is not there fulfils no condition.
	Op string `json:"op,omitempty"`
	// What the value is compared with, by its text: `0` is the number 0 and the string "0".
	Values []string `json:"values,omitempty"`
	// The status of the failure, 400 to 599.
	Status int `json:"status,omitempty"`
	// The failure's code. Default: the upstream's own, else the one of the status.
	Code string `json:"code,omitempty"`
}

// Check names what is wrong with it.
func (f From) Check() error {
	switch f.Kind {
	case JSON:
		_, err := pointers(f.Code, f.Message, f.Field)
		return prefix("from json", err)
	case HTML:
		for _, text := range []string{f.Code, f.Message, f.Field} {
			if text != "" {
				return fmt.Errorf("from html: unexpected '%s', expected no pointers", text)
			}
		}
		return nil
	}
	return fmt.Errorf("from: unexpected '%s', expected json or html", f.Kind)
}

// Operators are those of FailWhen.
var Operators = []string{"==", "!=", "<", "<=", ">", ">=", "exists", "missing"}

// maxValue bounds what is compared: captured scalars are not longer.
const maxValue = 1024

// Check names what is wrong with it.
func (f FailWhen) Check() error {
	if _, err := splice.ParsePointer(f.Pointer); err != nil {
		return prefix("fail_when", err)
	}
	if !slices.Contains(Operators, f.Op) {
		return fmt.Errorf("fail_when: unexpected operator '%s', expected one of %s", f.Op, strings.Join(Operators, " "))
	}
	switch f.Op {
	case "exists", "missing":
		if len(f.Values) > 0 {
			return fmt.Errorf("fail_when: unexpected value '%s' after %s, expected status", f.Values[0], f.Op)
		}
	case "==", "!=":
		if len(f.Values) == 0 {
			return fmt.Errorf("fail_when: expected a value after %s", f.Op)
		}
	default:
		if len(f.Values) != 1 {
			return fmt.Errorf("fail_when: expected one number after %s, and then status", f.Op)
		}
		if _, ok := number(f.Values[0]); !ok {
			return fmt.Errorf("fail_when: invalid value '%s' after %s, expected a number", f.Values[0], f.Op)
		}
	}
	for _, v := range f.Values {
		if len(v) > maxValue {
			return fmt.Errorf("fail_when: a value of %d bytes, expected at most %d", len(v), maxValue)
		}
	}
	if f.Status < 400 || f.Status > 599 {
		return fmt.Errorf("fail_when: invalid status '%d', expected one from 400 to 599", f.Status)
	}
	if f.Code != "" && !isSnake(f.Code) {
		return fmt.Errorf("fail_when: invalid code '%s', expected lower case words joined by _, such as not_published", f.Code)
	}
	return nil
}

func prefix(word string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", word, err)
	}
	return err
}

func pointers(texts ...string) (list []splice.Pointer, err error) {
	for _, text := range texts {
		p, err := splice.ParsePointer(text)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// isSnake accepts the codes of section "Errors" as we make them.
func isSnake(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// dialect is what From and FailWhen say, compiled.
type dialect struct {
	plan *splice.Plan // captures all that is asked for
	from []reading
	fail []condition
}

// reading has the slots of what is read, -1 for what is not.
type reading struct {
	kind                 Kind
	code, message, field int
}

type condition struct {
	FailWhen
	slot  int
	limit float64
}

// Prepare checks the rules and compiles them. A Config with rules is to be prepared
// before it is used, and not changed afterwards.
func (c *Config) Prepare() error {
	for _, f := range c.From {
		if err := f.Check(); err != nil {
			return err
		}
	}
	for _, f := range c.FailWhen {
		if err := f.Check(); err != nil {
			return err
		}
	}
	if len(c.From)+len(c.FailWhen) == 0 {
		c.dialect = nil
		return nil
	}
	d, slots := new(dialect), slots{}
	for _, f := range c.From {
		d.from = append(d.from, reading{f.Kind, slots.optional(f.Code), slots.optional(f.Message), slots.optional(f.Field)})
	}
	for _, f := range c.FailWhen {
		one := condition{FailWhen: f, slot: slots.of(f.Pointer)}
		if len(f.Values) == 1 {
			one.limit, _ = number(f.Values[0])
		}
		d.fail = append(d.fail, one)
	}
	var err error
	if d.plan, err = splice.Compile(splice.Config{Capture: slots.list}); err != nil {
		return err
	}
	c.dialect = d
	return nil
}

// ready is c, or its prepared copy.
func (c *Config) ready() *Config {
	if c.dialect != nil || len(c.From)+len(c.FailWhen) == 0 {
		return c
	}
	prepared := *c
	if err := prepared.Prepare(); err != nil {
		panic("envelope: " + err.Error())
	}
	return &prepared
}

// slots gives each place one slot, however often it is asked for.
type slots struct {
	texts []string
	list  []splice.Pointer
}

func (s *slots) of(text string) int {
	if i := slices.Index(s.texts, text); i >= 0 {
		return i
	}
	p, err := splice.ParsePointer(text)
	if err != nil {
		panic("envelope: " + strconv.Quote(text) + " was not checked")
	}
	s.texts, s.list = append(s.texts, text), append(s.list, p)
	return len(s.list) - 1
}

func (s *slots) optional(text string) int {
	if text == "" {
		return -1
	}
	return s.of(text)
}
