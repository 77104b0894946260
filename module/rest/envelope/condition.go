package envelope

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// verdict is what is known about a response so far.
type verdict uint8

const (
	open   verdict = iota // undecided: a value that matters may still follow
	passes                // it is not a failure
	fails
)

// judge evaluates all conditions. ended says that the body is complete.
func (w *watch) judge(ended bool) verdict {
	v := passes
	for i := range w.d.fail {
		switch w.ask(i, ended) {
		case fails:
			return fails
		case open:
			v = open
		}
	}
	return v
}

// ask evaluates one condition.
func (w *watch) ask(i int, ended bool) verdict {
	c := &w.d.fail[i]
	switch {
	case c.Header != "":
		return failsIf(i == w.header)
	case c.NotJSON && (w.permitted || ended && !w.notJSON):
		return passes
	case c.NotJSON && w.notJSON:
		return fails
	case !c.NotJSON && w.editor != nil:
		return c.judge(w.editor.Captured(c.slot), ended)
	case !c.NotJSON && c.Pointer == "" && w.words != nil:
		return c.judge(*w.words, true)
	case ended || w.notJSON:
		return passes
	}
	return open
}

// first returns the condition that decides, or nil if none is known to hold.
func (w *watch) first(ended bool) *condition {
	for i := range w.d.fail {
		if w.ask(i, ended) == fails {
			return &w.d.fail[i]
		}
	}
	return nil
}

// holding returns the condition that judge found to hold.
func (w *watch) holding() *condition {
	if c := w.first(false); c != nil {
		return c
	}
	return w.first(true)
}

func (c *condition) judge(s splice.Scalar, ended bool) verdict {
	there := s.Kind != splice.Absent || s.Long
	switch {
	case !there && !ended:
		return open
	case c.Op == "missing":
		return failsIf(!there)
	case !there:
		return passes
	}
	return failsIf(c.holds(s))
}

func failsIf(yes bool) verdict {
	if yes {
		return fails
	}
	return passes
}

// holds compares a value that is present. An object, an array and a text that is too long to be
// kept equal no value.
func (c *condition) holds(s splice.Scalar) bool {
	scalar := s.Kind != splice.Object && s.Kind != splice.Array && !s.Long
	switch c.Op {
	case "exists":
		return true
	case "empty":
		return IsEmpty(s)
	case "==":
		return scalar && slices.ContainsFunc(c.Values, func(v string) bool { return same(s.Text, v) })
	case "!=":
		return !scalar || !slices.ContainsFunc(c.Values, func(v string) bool { return same(s.Text, v) })
	}
	n, ok := number(s.Text)
	if !scalar || !ok || s.Kind != splice.Number && s.Kind != splice.String {
		return false
	}
	switch c.Op {
	case "<":
		return n < c.limit
	case "<=":
		return n <= c.limit
	case ">":
		return n > c.limit
	}
	return n >= c.limit
}

// same reports whether two texts are equal, or are different spellings of one number. Above
// maxExact, different integers are the same float64, so only their texts are compared.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := number(a)
	y, both := number(b)
	return ok && both && x == y && math.Abs(x) < maxExact
}

const maxExact = 1 << 53

// number parses a JSON number, and none of the other forms that strconv accepts.
func number(s string) (float64, bool) {
	unsigned := strings.TrimPrefix(s, "-")
	if unsigned == "" || unsigned[0] < '0' || unsigned[0] > '9' || strings.Trim(unsigned, "0123456789.+-eE") != "" {
		return 0, false
	}
	if len(unsigned) > 1 && unsigned[0] == '0' && unsigned[1] >= '0' && unsigned[1] <= '9' {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}
