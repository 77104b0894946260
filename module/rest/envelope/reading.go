package envelope

import (
	"bytes"
	"io"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// look captures what the rules refer to in a text, and returns nil if it contains no JSON. If
// something is printed in front of the JSON value, the value must be complete unless the text
// was truncated, since an HTML page may contain braces of its own. The caller must release the
// editor. found is the text from the start of the value.
func (d *dialect) look(text []byte, cut bool) (e *splice.Editor, found []byte, ended bool) {
	if e, ended, _ = d.scan(text, cut); ended || len(text) > 0 && (text[0] == '{' || text[0] == '[') && d.sawAny(e) {
		return e, text, ended
	}
	e.Release()
	for range notices {
		at := bytes.IndexByte(text, '{')
		if at < 0 {
			break
		}
		var valid bool
		if e, ended, valid = d.scan(text[at:], cut); ended || valid && cut {
			return e, text[at:], ended
		}
		e.Release()
		text = text[at+1:]
	}
	return nil, nil, false
}

// scan does not close the editor if the text may continue.
func (d *dialect) scan(text []byte, cut bool) (e *splice.Editor, ended, valid bool) {
	e = d.plan.New(io.Discard)
	_, err := e.Write(text)
	return e, err == nil && !cut && e.Close() == nil, err == nil
}

func (d *dialect) sawAny(e *splice.Editor) bool {
	for _, r := range d.from {
		for _, slot := range []int{r.code, r.message, r.field} {
			if slot >= 0 && e.Captured(slot).Kind != splice.Absent {
				return true
			}
		}
	}
	for i := range d.fail {
		if c := &d.fail[i]; c.slot >= 0 && c.judge(e.Captured(c.slot), false) == fails {
			return true
		}
	}
	return false
}

// reads reports whether errors of a kind are read.
func (d *dialect) reads(kind Kind) bool {
	return d.usual() || slices.ContainsFunc(d.from, func(r reading) bool { return r.kind == kind })
}

// usual reports whether JSON is read without rules.
func (d *dialect) usual() bool { return d == nil || len(d.from) == 0 }

// told returns what the first rule finds that finds anything. readable says that texts may be
// passed on, rather than only codes. usual reports that the usual places should be searched
// instead, as in an error that is shaped and that no rule reads. text is what the editor has seen.
func (d *dialect) told(e *splice.Editor, text []byte, status int, readable, shaped bool) (told Error, usual bool) {
	for _, r := range d.from {
		if r.kind != JSON {
			continue
		}
		if r.code < 0 && r.message < 0 && r.field < 0 {
			return Error{}, true
		}
		code, message := textOf(e, r.code), textOf(e, r.message)
		if code == "" && message == "" {
			continue
		}
		if isSnake(code) {
			told.Code = code
		} else if message == "" {
			message = Lookup(status).Message + " (" + code + ")"
		}
		if readable {
			told.Message, told.Field = safeText(message), safeField(r.fieldOf(e, text))
		}
		return told, false
	}
	return Error{}, shaped
}

func textOf(e *splice.Editor, slot int) string {
	if slot < 0 {
		return ""
	}
	if s := e.Captured(slot); s.Kind == splice.String || s.Kind == splice.Number {
		return s.Text
	}
	return ""
}
