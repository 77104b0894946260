package envelope

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// From says where an upstream's errors contain what a client is told. If there is any From, only
// the kinds that are named are read. Without one, JSON, HTML and plain text are read as far as
// they are self-explanatory.
type From struct {
	// The kind of body: `json` or `html`. For HTML, the title or the first heading is read. Required.
	Kind Kind `json:"kind"`
	// JSON Pointer (RFC 6901) to the error's code. If it consists of lower case letters, digits
	// and underscores, it becomes the `code`. Any other code is meant for people: it becomes the
	// message of an error that has none, and is otherwise dropped.
	Code string `json:"code,omitempty"`
	// JSON Pointer to the error's text. If no pointer is given, the usual places are searched.
	// Default: the usual places.
	Message string `json:"message,omitempty"`
	// JSON Pointer to the name of the invalid parameter, to an object whose members are named
	// after the invalid parameters, or to an array of their names. Of several, the first is
	// reported. Default: none.
	Field string `json:"field,omitempty"`
}

// Check returns an error that says what is wrong and what is expected.
func (f From) Check() error {
	if f.Kind != JSON && f.Kind != HTML {
		return fmt.Errorf("from: unexpected '%s', expected json or html", f.Kind)
	}
	for _, text := range []string{f.Code, f.Message, f.Field} {
		if f.Kind == HTML && text != "" {
			return fmt.Errorf("from html: unexpected '%s', expected no pointers", text)
		}
		if _, err := splice.ParsePointer(text); err != nil {
			return fmt.Errorf("from json: %w", err)
		}
	}
	return nil
}

const snakeLetters = "abcdefghijklmnopqrstuvwxyz0123456789_"

// isSnake reports whether a text is a code in snake_case.
func isSnake(s string) bool {
	return s != "" && len(s) <= 64 && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, snakeLetters) == ""
}

// dialect is the compiled form of From and FailWhen.
type dialect struct {
	plan *splice.Plan // captures all values that rules refer to
	from []reading
	fail []condition
	// empty are the conditions under which an error is an empty response.
	empty   []condition
	notJSON bool // a condition depends on whether a response is JSON
	bodies  bool // a condition depends on the body of a success
	text    bool // a condition compares the whole body
}

// reading has the slots of the values to read, -1 for those that are not read.
type reading struct {
	kind                 Kind
	code, message, field int
	fieldAt              splice.Pointer
}

// Prepare checks and compiles the rules. A Config with rules must be prepared before use and not
// be changed afterwards.
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
	for _, when := range c.emptyWhen() {
		if err := when.Check(); err != nil {
			return fmt.Errorf("empty_when: %w", err)
		}
	}
	if !c.ruled() {
		c.dialect = nil
		return nil
	}
	d, slots := new(dialect), slots{}
	for _, f := range c.From {
		at, _ := splice.ParsePointer(f.Field) // checked
		d.from = append(d.from, reading{f.Kind, slots.optional(f.Code), slots.optional(f.Message), slots.optional(f.Field), at})
	}
	for _, f := range c.FailWhen {
		d.fail = append(d.fail, f.compile(&slots))
		d.notJSON, d.bodies = d.notJSON || f.NotJSON, d.bodies || f.Header == ""
		d.text = d.text || f.whole()
	}
	for _, when := range c.emptyWhen() {
		d.empty = append(d.empty, FailWhen{Pointer: when.Pointer, Op: when.Op, Values: when.Values}.compile(&slots))
	}
	var err error
	if d.plan, err = splice.Compile(splice.Config{Capture: slots.list}); err != nil {
		return err
	}
	c.dialect = d
	return nil
}

// ruled reports whether there are rules to compile.
func (c *Config) ruled() bool { return len(c.From)+len(c.FailWhen)+len(c.emptyWhen()) > 0 }

// ready returns c if it is prepared, or else a prepared copy.
func (c *Config) ready() *Config {
	if c.dialect != nil || !c.ruled() {
		return c
	}
	prepared := *c
	if err := prepared.Prepare(); err != nil {
		panic("envelope: " + err.Error())
	}
	return &prepared
}

// slots assigns one slot to each pointer, however often it is used.
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
