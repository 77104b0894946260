package job

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Result is the upstream's answer to a job that succeeded.
type Result struct {
	JSON    json.RawMessage // nil: nothing
	Omitted bool            // too large to keep
}

// newResult returns an answer as a result: JSON unchanged, other text as a string, and nothing
// else.
func newResult(body []byte, cut bool) Result {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	switch {
	case cut || len(body) > maxResult:
		return Result{Omitted: true}
	case len(body) == 0:
		return Result{}
	case json.Valid(body):
		var compact bytes.Buffer
		if json.Compact(&compact, body) != nil {
			return Result{}
		}
		return Result{JSON: compact.Bytes()}
	case !utf8.Valid(body):
		return Result{}
	}
	text, err := json.Marshal(string(body))
	if err != nil || len(text) > maxResult {
		return Result{Omitted: true}
	}
	return Result{JSON: text}
}

// valueAt returns the value at a pointer in a line of JSON, or nil.
func valueAt(line []byte, at *splice.Plan) []byte {
	var out bytes.Buffer
	e := at.New(&out)
	defer e.Release()
	if _, err := e.Write(line); err != nil || e.Close() != nil {
		return nil
	}
	return out.Bytes()
}

// failureOf parses an error in the gateway's format.
func failureOf(body []byte) *Failure {
	var said struct{ Error Failure }
	if json.Unmarshal(body, &said) != nil || said.Error.Code == "" {
		return UpstreamFailed.Failure()
	}
	return &said.Error
}
