package login

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
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
// nobody asked for that, none does, but those of the whole answer where that is plain text. cut
// says that the body is only the beginning.
func (j *judge) holds(h http.Header, body []byte, cut bool) bool {
	if coding := h.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return false
	}
	start := bytes.IndexByte(body, '{')
	if start < 0 {
		return !cut && j.holdsOfText(h, body)
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

// holdsOfText asks the conditions on the whole answer of one in plain text, such as `Ok.`.
func (j *judge) holdsOfText(h http.Header, body []byte) bool {
	if media, _ := envelope.MediaType(h); media != "text/plain" {
		return false
	}
	text := splice.Scalar{Kind: splice.String, Text: string(bytes.TrimSpace(body))}
	return slices.ContainsFunc(j.rules, func(r envelope.Condition) bool { return r.Pointer == "" && r.Holds(text) })
}

// written is a condition as it is written in a Caddyfile.
func written(c envelope.Condition) string {
	words := append([]string{c.Pointer, c.Op}, c.Values...)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t") {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}

// unlikeJSON says of an answer that has no JSON object what it is instead.
func unlikeJSON(a Answer) string {
	if bytes.IndexByte(a.Body, '{') >= 0 {
		return ""
	}
	media, _ := envelope.MediaType(a.Header)
	return fmt.Sprintf(": the answer, status %d and Content-Type %q, has no JSON object", a.Status, media)
}
