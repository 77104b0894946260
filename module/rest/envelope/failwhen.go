package envelope

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Condition compares one value of a JSON response.
type Condition struct {
	// JSON Pointer (RFC 6901) to a value of the response. Default: the whole response.
	Pointer string `json:"pointer,omitempty"`
	// `==` (any of the values), `!=` (none of them), `<`, `<=`, `>`, `>=`, `exists`, `missing`, or
	// `empty` (null, false, or an empty text, array or object). A missing value meets no condition
	// except `missing`.
	Op string `json:"op,omitempty"`
	// What the value is compared with, as text: `0` matches the number 0 and the string "0". Required,
	// except with `exists`, `missing` and `empty`.
	Values []string `json:"values,omitempty"`
}

// FailWhen is a condition under which a response with a success status is a failure. It is about
// a value of the body, about a header field, or about whether the body is JSON at all. The first
// condition that holds decides.
type FailWhen struct {
	// JSON Pointer (RFC 6901) to a value of the response. Default: the whole response. If that
	// is plain text, HTML or unlabelled, and not JSON, it is compared as text without
	// surrounding white space; a text longer than 1024 bytes equals no value. Pointers to values
	// inside the response apply to JSON only.
	Pointer string `json:"pointer,omitempty"`
	// Name of a header field of the response that is compared instead. Several fields of that
	// name are joined by commas. Default: the body is compared.
	Header string `json:"header,omitempty"`
	// Holds if the response is not JSON, instead of a comparison. Attachments, event streams,
	// JSON lines and the media types that a resource passes are exempt.
	NotJSON bool `json:"not_json,omitempty"`
	// `==` (any of the values), `!=` (none of them), `<`, `<=`, `>`, `>=`, `exists`, `missing`, or
	// `empty` (null, false, or an empty text, array or object). A missing value meets no condition
	// except `missing`.
	Op string `json:"op,omitempty"`
	// What the value is compared with, as text: `0` matches the number 0 and the string "0". Required,
	// except with `exists`, `missing` and `empty`.
	Values []string `json:"values,omitempty"`
	// The status of the failure, 400 to 599. Default: 502 for `not_json`.
	Status int `json:"status,omitempty"`
	// The error code. Default: the upstream's own, or that of the status.
	Code string `json:"code,omitempty"`
}

// Operators are the operators of conditions.
var Operators = []string{"==", "!=", "<", "<=", ">", ">=", "exists", "missing", "empty"}

// maxValue bounds the length of compared values: captured scalars are not longer.
const maxValue = 1024

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110 section 5.6.2

// Check names what is wrong with it.
func (c Condition) Check() error { return c.check("", "") }

// check is Check. unexpected and then describe what may follow the condition.
func (c Condition) check(unexpected, then string) error {
	if _, err := splice.ParsePointer(c.Pointer); err != nil {
		return err
	}
	if !slices.Contains(Operators, c.Op) {
		return fmt.Errorf("unexpected operator '%s', expected one of %s", c.Op, strings.Join(Operators, " "))
	}
	switch c.Op {
	case "exists", "missing", "empty":
		if len(c.Values) > 0 {
			return fmt.Errorf("unexpected value '%s' after %s, expected %s", c.Values[0], c.Op, cmp.Or(unexpected, "none"))
		}
	case "==", "!=":
		if len(c.Values) == 0 {
			return fmt.Errorf("expected a value after %s", c.Op)
		}
	default:
		if len(c.Values) != 1 {
			return fmt.Errorf("expected one number after %s%s", c.Op, then)
		}
		if _, ok := number(c.Values[0]); !ok {
			return fmt.Errorf("invalid value '%s' after %s, expected a number", c.Values[0], c.Op)
		}
	}
	for _, v := range c.Values {
		if len(v) > maxValue {
			return fmt.Errorf("a value of %d bytes, expected at most %d", len(v), maxValue)
		}
	}
	return nil
}

// Check names what is wrong with it.
func (f FailWhen) Check() error {
	switch {
	case f.NotJSON && (f.Pointer != "" || f.Header != "" || f.Op != "" || len(f.Values) > 0):
		return fmt.Errorf("fail_when not_json: unexpected '%s', expected status", cmp.Or(f.Pointer, f.Header, f.Op, "values"))
	case f.Header != "" && f.Pointer != "":
		return fmt.Errorf("fail_when header %s: unexpected pointer '%s', expected one of both", f.Header, f.Pointer)
	case f.Header != "" && !headerName.MatchString(f.Header):
		return fmt.Errorf("fail_when: invalid header '%s', expected the name of a header field", f.Header)
	}
	if !f.NotJSON {
		if err := (Condition{f.Pointer, f.Op, f.Values}).check("status", ", and then status"); err != nil {
			return fmt.Errorf("fail_when: %w", err)
		}
	}
	if status := f.status(); status < 400 || status > 599 {
		return fmt.Errorf("fail_when: invalid status '%d', expected one from 400 to 599", f.Status)
	}
	if f.Code != "" && !isSnake(f.Code) {
		return fmt.Errorf("fail_when: invalid code '%s', expected lower case words joined by _, such as not_published", f.Code)
	}
	return nil
}

// whole reports whether the condition is about the whole body.
func (f FailWhen) whole() bool { return f.Pointer == "" && f.Header == "" && !f.NotJSON }

func (f FailWhen) status() int {
	if f.NotJSON && f.Status == 0 {
		return http.StatusBadGateway
	}
	return f.Status
}

// condition is a compiled FailWhen.
type condition struct {
	FailWhen
	slot  int // of the value; -1 if it is not in the body
	limit float64
}

func (f FailWhen) compile(slots *slots) condition {
	c := condition{FailWhen: f, slot: -1}
	c.Status = f.status()
	if f.Header == "" && !f.NotJSON {
		c.slot = slots.of(f.Pointer)
	}
	if len(f.Values) == 1 {
		c.limit, _ = number(f.Values[0])
	}
	return c
}

// Holds reports whether the condition holds for the value at its pointer, in a response that was
// read completely.
func (c Condition) Holds(s splice.Scalar) bool {
	compiled := condition{FailWhen: FailWhen{Op: c.Op, Values: c.Values}}
	if len(c.Values) == 1 {
		compiled.limit, _ = number(c.Values[0])
	}
	return compiled.judge(s, true) == fails
}

// headed returns the index of the first condition on a header field that holds, or -1.
func (d *dialect) headed(h http.Header) int {
	for i := range d.fail {
		c := &d.fail[i]
		if c.Header == "" {
			continue
		}
		var s splice.Scalar
		if values := h.Values(c.Header); len(values) > 0 {
			s = splice.Scalar{Kind: splice.String, Text: strings.Join(values, ", ")}
		}
		if c.judge(s, true) == fails {
			return i
		}
	}
	return -1
}

// IsEmpty reports whether a value is null, false, or an empty text, array or object.
func IsEmpty(s splice.Scalar) bool {
	switch s.Kind {
	case splice.Null:
		return true
	case splice.Bool:
		return s.Text == "false"
	case splice.String:
		return s.Text == ""
	}
	return s.Empty
}
