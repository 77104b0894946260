package envelope

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
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
	// JSON Pointer to the name of the offending parameter, or to an object whose members are
	// called after the offending parameters, or an array of their names. Of several the first
	// is named.
	Field string `json:"field,omitempty"`
}

// Check names what is wrong with it.
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

// isSnake reports whether a text is a code in lower case words joined by _.
func isSnake(s string) bool {
	return s != "" && len(s) <= 64 && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, snakeLetters) == ""
}

// dialect is what From and FailWhen say, compiled.
type dialect struct {
	plan *splice.Plan // captures all that is asked for
	from []reading
	fail []condition
	// empty says that an error is an empty answer.
	empty   []condition
	notJSON bool // a condition asks whether an answer is JSON
	bodies  bool // a condition asks about the body of a success
	text    bool // a condition asks about the whole body
}

// reading has the slots of what is read, -1 for what is not.
type reading struct {
	kind                 Kind
	code, message, field int
	fieldAt              splice.Pointer
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

// ruled reports whether there is anything to prepare.
func (c *Config) ruled() bool { return len(c.From)+len(c.FailWhen)+len(c.emptyWhen()) > 0 }

// ready is c, or its prepared copy.
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
