package envelope

import (
	"bytes"
	"net/http"

	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// EmptyWhen says which errors of an upstream mean an empty result, such as the error for a page
// beyond the end of a list.
type EmptyWhen struct {
	// When are conditions on the error's body, at least one of which must hold. They take
	// precedence over FailWhen.
	When []Condition
	// Body is the response that replaces the error, in JSON, with status 200.
	Body []byte
}

func (c *Config) emptyWhen() []Condition {
	if c.Empty == nil {
		return nil
	}
	return c.Empty.When
}

// emptied replaces the held error by an empty result if that is what the error means.
func (w *Writer) emptied(raw []byte) bool {
	d := w.config.dialect
	if d == nil || len(d.empty) == 0 || w.held.cut {
		return false
	}
	h := w.ResponseWriter.Header()
	plain, cut, ok := decompress(h["Content-Encoding"], raw)
	if !ok || cut {
		return false
	}
	_, label := MediaType(h)
	text, ok := charset.Read(label, w.config.Charset).Text(plain, false)
	if text = bytes.TrimSpace(text); !ok || len(text) == 0 {
		return false
	}
	e, _, ended := d.look(text, false)
	if e == nil {
		return false
	}
	defer e.Release()
	for i := range d.empty {
		if c := &d.empty[i]; ended && c.judge(e.Captured(c.slot), true) == fails {
			forgetBody(h)
			h.Set("Content-Type", "application/json")
			w.ResponseWriter.WriteHeader(http.StatusOK)
			_, _ = w.ResponseWriter.Write(w.config.Empty.Body) // if the client is gone, the next write fails
			return true
		}
	}
	return false
}
