package job

import (
	"bytes"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// Recorder receives the upstream's answer: of JSON lines, each of which may report the progress,
// it keeps the last one, and otherwise the whole. It keeps no more than a result may have.
type Recorder struct {
	header http.Header
	status int
	body   []byte
	cut    bool

	part     *splice.Plan // the part of the last line that is the result; nil: what the queue declares
	told     *splice.Plan // captures the progress; nil: lines are not examined
	lines    bool
	line     []byte
	long     bool // the line is too long to be kept
	progress atomic.Pointer[int]
}

// Header implements http.ResponseWriter.
func (w *Recorder) Header() http.Header { return w.header }

// Part sets the plan that edits the last line, instead of the queue's `result`.
func (w *Recorder) Part(plan *splice.Plan) { w.part = plan }

// WriteHeader keeps the first final status.
func (w *Recorder) WriteHeader(status int) {
	if w.status != 0 || status < http.StatusOK {
		return
	}
	w.status = status
	media, _, _ := mime.ParseMediaType(w.header.Get("Content-Type"))
	w.lines = w.told != nil && status < http.StatusMultipleChoices && httpx.IsLines(media)
}

// Write keeps what there is room for. The rest is read, too: an upstream that cannot send its
// answer may report a failure.
func (w *Recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	n := len(p)
	for w.lines {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			break
		}
		w.add(p[:end])
		w.endLine()
		p = p[end+1:]
	}
	if w.lines {
		w.add(p)
		return n, nil
	}
	room := min(maxResult+1-len(w.body), len(p))
	w.body = append(w.body, p[:room]...)
	w.cut = w.cut || room < len(p)
	return n, nil
}

// Flush is for proxies that stream.
func (w *Recorder) Flush() { w.WriteHeader(http.StatusOK) }

func (w *Recorder) add(p []byte) {
	if w.long || len(w.line)+len(p) > maxResult {
		w.long, w.line = true, w.line[:0]
		return
	}
	w.line = append(w.line, p...)
}

func (w *Recorder) endLine() {
	line := bytes.TrimSpace(w.line)
	if len(line) > 0 || w.long {
		w.body, w.cut = append(w.body[:0], line...), w.long
		w.readProgress(line)
	}
	w.line, w.long = w.line[:0], false
}

// readProgress reads the progress in a line.
func (w *Recorder) readProgress(line []byte) {
	e := w.told.New(io.Discard)
	defer e.Release()
	if _, err := e.Write(line); err != nil || e.Close() != nil {
		return
	}
	s := e.Captured(0)
	if s.Kind != splice.Number && s.Kind != splice.String {
		return
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(s.Text, "%"), 64)
	if err != nil || math.IsNaN(percent) {
		return
	}
	n := int(max(0, min(percent, 99))) // 100 is reserved for jobs that have succeeded
	w.progress.Store(&n)
}

func (w *Recorder) finishAnswer() {
	w.WriteHeader(http.StatusOK)
	if w.lines {
		w.endLine()
	}
}
