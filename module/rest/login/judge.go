package login

import (
	"bytes"
	"io"
	"net/http"

	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/splice"
)

// judge asks conditions of answers in JSON that were read before.
type judge struct {
	plan  *splice.Plan
	rules []envelope.Condition
}

func newJudge(rules []envelope.Condition) (*judge, error) {
	var at []splice.Pointer
	for _, r := range rules {
		p, err := splice.ParsePointer(r.Pointer)
		if err != nil {
			return nil, err
		}
		at = append(at, p)
	}
	plan, err := splice.Compile(splice.Config{Capture: at})
	return &judge{plan, rules}, err
}

// holds reports whether any condition holds. Of what is no JSON, or is compressed although
// nobody asked for that, none does. cut says that the body is only the beginning.
func (j *judge) holds(h http.Header, body []byte, cut bool) bool {
	if coding := h.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return false
	}
	start := bytes.IndexByte(body, '{')
	if start < 0 {
		return false
	}
	e := j.plan.New(io.Discard)
	defer e.Release()
	if _, err := e.Write(body[start:]); err != nil {
		return false
	}
	if ended := e.Close() == nil; !ended && !cut {
		return false
	}
	for i, r := range j.rules {
		if s := e.Captured(i); r.Holds(s) && (!cut || s.Kind != splice.Absent) {
			return true
		}
	}
	return false
}
