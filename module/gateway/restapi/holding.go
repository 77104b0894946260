package restapi

import (
	"io"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// holding is a writer that keeps an answer back until it is whole, as far as it is no
// larger than the limit and no stream: something about it is to be known before it is sent.
type holding struct {
	caddyhttp.ResponseWriterWrapper
	limit  int
	before http.Header // what stood there before the handler
	status int
	body   []byte
	passed bool // it is on its way to the client
	gone   bool // what follows of the body is not sent
	// decide is called when the header is there; nil: everything is held. It may call pass.
	decide func()
}

func newHolding(w http.ResponseWriter, limit int) *holding {
	return &holding{ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, limit: limit, before: w.Header().Clone()}
}

// WriteHeader holds. Informational answers pass.
func (w *holding) WriteHeader(status int) {
	switch {
	case w.status != 0:
	case status < http.StatusOK && status != http.StatusSwitchingProtocols:
		w.ResponseWriter.WriteHeader(status)
	default:
		w.status = status
		if status == http.StatusSwitchingProtocols || streams(w.Header()) {
			w.pass()
		} else if w.decide != nil {
			w.decide()
		}
	}
}

// Write holds as much as the limit allows.
func (w *holding) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.gone {
		return len(p), nil
	}
	if !w.passed && len(w.body)+len(p) <= w.limit {
		w.body = append(w.body, p...)
		return len(p), nil
	}
	if !w.passed {
		w.pass()
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom keeps the body from passing by.
func (w *holding) ReadFrom(from io.Reader) (int64, error) {
	if w.passed && !w.gone {
		return w.ResponseWriterWrapper.ReadFrom(from)
	}
	return io.Copy(struct{ io.Writer }{w}, from)
}

// FlushError does nothing while the answer is held.
func (w *holding) FlushError() error {
	if !w.passed {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError without the error.
func (w *holding) Flush() { _ = w.FlushError() }

// pass sends what was held.
func (w *holding) pass() {
	w.passed = true
	w.ResponseWriter.WriteHeader(w.status)
	if len(w.body) > 0 {
		_, _ = w.ResponseWriter.Write(w.body) // the next write tells of a client that has gone
	}
	w.body = nil
}

// release sends what is held, and what was not written at all as 200.
func (w *holding) release() {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if !w.passed {
		w.pass()
	}
}

// own are the fields that the handler has set.
func (w *holding) own() http.Header {
	own := make(http.Header)
	for name, values := range w.Header() {
		if !slices.Equal(values, w.before[name]) {
			own[name] = values
		}
	}
	return own
}

func streams(h http.Header) bool {
	switch mediaType(h) {
	case "text/event-stream", "application/x-ndjson", "application/jsonl", "application/json-seq":
		return true
	}
	return false
}

// early is an error after the header, when the client has seen nothing of it yet.
func early(held *holding, err error) error {
	if !isLate(err) || held.passed {
		return err
	}
	return broken(err)
}
