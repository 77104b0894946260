package translate

import (
	"errors"
	"io"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// hold is how much of a translated body is kept before the header goes out: so long an
// answer can still become a failure with a status, and its length be known. A list that
// is longer streams.
const hold = 64 << 10

// holdCreated is the same for the answer to a creation, whose Location needs the new id, and
// for a list whose Link needs a cursor.
const holdCreated = 1 << 20

// Config is one answer's.
type Config struct {
	// Answer says what becomes of it.
	Answer *answer.Answer
	// MediaType is the one that the client asked for, "" for application/json.
	MediaType string
	// Method is the client's, "" for that of the operation.
	Method string
	// Locate turns an upstream's address into the client's. Nil: addresses stay.
	Locate Locate
}

// Writer translates the answer that is written to it. Informational answers, 101, 304
// and errors pass untouched, and ranges of bytes where nothing is declared; event streams, attachments and what is no JSON do so
// where nothing is declared of the answer, and where the resource passes their type.
//
// When the handler behind it has answered, Finish is called, and Release in any case.
type Writer struct {
	http.ResponseWriter
	config    Config
	status    int
	body      *body // while the body is translated
	peek      *peek // while it is kept to find out what it is
	swallow   bool  // nothing of the body is passed on
	wrote     bool  // WriteHeader was called
	committed bool
	surplus   bool // nothing more of the body is needed
	linked    bool // the header's Link is ours
	failure   *Failure
	missed    *Failure // what was not found in the answer to a write that succeeded
}

// New wraps w for one answer.
func New(w http.ResponseWriter, c Config) *Writer {
	return &Writer{ResponseWriter: w, config: c}
}

// Unwrap is for http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Committed reports whether the header is on its way to the client.
func (w *Writer) Committed() bool { return w.committed }

// Linked reports whether the Link in the header is ours and not the upstream's.
func (w *Writer) Linked() bool { return w.linked }

// WriteHeader decides by status and header what becomes of the answer.
func (w *Writer) WriteHeader(status int) {
	if w.wrote || status < http.StatusOK && status != http.StatusSwitchingProtocols {
		if !w.wrote {
			w.ResponseWriter.WriteHeader(status)
		}
		return
	}
	h := w.Header()
	a := w.config.Answer
	if a.ReadByPost {
		h.Del("Etag") // nothing that is asked for it by GET would match
		h.Del("Accept-Ranges")
		if status == http.StatusCreated {
			status = http.StatusOK
			h.Del("Location")
		}
	}
	partial := status == http.StatusPartialContent
	if partial && a.Plan != nil && !isByteRange(h) {
		status = http.StatusOK
	}
	w.wrote, w.status = true, status
	if !conventionReplaces[status] || isUnjudged(a, h) {
		a.KeepBody()
	}
	if a.Conventional && !conventionReplaces[status] {
		a.Status = 0
	}
	switch {
	case partial && w.refusesPart():
		w.noteFailure(refusedPart(w))
		return
	case status >= 300 && status < 400 && status != http.StatusNotModified:
		w.rewriteRedirect(h)
		return
	case status == http.StatusNotModified && a.Personal():
		h.Add("Vary", "Authorization") // as the answer would have that a cache has (RFC 9110 section 15.4.5)
		w.rewriteLocations()
	case status == http.StatusSwitchingProtocols:
	case status < 200 || status >= 300 || status == http.StatusPartialContent:
		w.rewriteLocations()
	case a.Conventional && a.Status != 0 && a.Plan == nil && (status == http.StatusOK || status == http.StatusCreated || status == http.StatusNonAuthoritativeInfo):
		w.rewriteLocations()
		if !w.applyConvention(h) {
			return
		}
	case a.Status == http.StatusNoContent:
		w.dropBody(a.Status)
		w.rewriteLocations()
	case status == http.StatusNoContent || status == http.StatusResetContent:
		if a.Status != 0 {
			w.status, w.swallow = a.Status, true
		}
		w.rewriteLocations()
	default:
		w.rewriteLocations()
		if a.Plan != nil || a.MayBeList() {
			if !w.beginBody() {
				return
			}
		} else if w.config.MediaType != "" && envelope.IsJSON(mediaOf(h)) {
			h.Set("Content-Type", w.config.MediaType)
		}
	}
	w.sendHeader()
}

// beginBody begins to translate the body, and reports whether it passes unchanged instead.
func (w *Writer) beginBody() (passes bool) {
	body, f := newBody(w)
	if f != nil {
		w.noteFailure(f)
		return false
	}
	w.body = body
	return body == nil
}

// dropBody makes an answer without a body of it.
func (w *Writer) dropBody(status int) {
	w.status, w.swallow = status, true
	dropBodyFields(w.Header())
	w.Header().Del("Content-Type")
}

// sendHeader sends the header to the client.
func (w *Writer) sendHeader() {
	w.committed = true
	w.ResponseWriter.WriteHeader(w.status)
}

// Write passes on, translates or swallows. Its error ends the upstream's answer.
func (w *Writer) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.failure != nil:
		return 0, w.failure
	case w.swallow, w.missed != nil:
		return len(p), nil
	case w.peek != nil:
		if err := w.peek.write(p); err != nil {
			return 0, err
		}
		return len(p), nil
	case w.body != nil:
		err := w.body.write(p)
		if errors.Is(err, responsewriter.ErrSurplus) {
			w.surplus = true
			return 0, err
		}
		if err != nil {
			w.noteFailure(failureOf(err))
			if w.failure != nil {
				return 0, w.failure
			}
		}
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom keeps the way open for sendfile.
func (w *Writer) ReadFrom(from io.Reader) (int64, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.failure == nil && w.body == nil && w.peek == nil && !w.swallow {
		if rf, ok := w.ResponseWriter.(io.ReaderFrom); ok {
			return rf.ReadFrom(from)
		}
	}
	return io.Copy(writerOnly{w}, from)
}

type writerOnly struct{ io.Writer }

// Flush is FlushError without the error.
func (w *Writer) Flush() { _ = w.FlushError() }

// FlushError does nothing while the header is held back.
func (w *Writer) FlushError() error {
	if w.wrote && !w.committed {
		return nil
	}
	w.wrote, w.committed = true, true
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Failed returns what has been found wrong so far.
func (w *Writer) Failed() *Failure { return w.failure }

// Finish ends the answer, which must be complete. After a failure nothing was sent if the writer is not
// Committed; otherwise the connection is to be aborted, so that nobody takes what was
// sent for the whole.
func (w *Writer) Finish() *Failure {
	if w.surplus {
		return nil
	}
	if w.failure == nil && w.peek != nil {
		if err := w.peek.close(); err != nil && !errors.Is(err, responsewriter.ErrSurplus) {
			w.failure = failureOf(err)
		}
	}
	if w.failure == nil && w.missed == nil && w.body != nil {
		if err := w.body.close(); err != nil && !errors.Is(err, responsewriter.ErrSurplus) {
			w.noteFailure(failureOf(err))
		}
	}
	return w.failure
}

// noteFailure notes what is wrong with the body. A write whose answer lacks the declared resource has
// succeeded all the same, unless the answer says otherwise: a client that heard of a failure would repeat it.
func (w *Writer) noteFailure(f *Failure) {
	if f.Kind == Missing && w.body != nil && !w.committed && w.config.Answer.HasNoItem(w.body.editor) {
		f = &Failure{Missing, ErrNothing}
	}
	failed := w.body != nil && w.config.Answer.Failed(w.body.editor)
	if f.Kind == Missing && !w.committed && w.config.Answer.Writes() && !failed {
		w.missed = f
		return
	}
	w.failure = f
}

// Settle answers a write that succeeded, but whose answer lacks the declared resource: without a body. It
// returns what was missing, nil for other answers. It must be called after Finish, and not if the upstream
// has failed.
func (w *Writer) Settle() *Failure {
	if w.missed == nil || w.failure != nil || w.committed {
		return nil
	}
	a, h := w.config.Answer, w.Header()
	_ = envelope.TakeTrailers(h)
	if w.status == http.StatusAccepted {
		w.dropBody(w.status) // it is not done yet
	} else {
		w.dropBody(http.StatusNoContent)
	}
	if a.Status == http.StatusCreated {
		w.status = a.Status
		if w.body != nil && w.body.editor != nil {
			if at := a.Location(w.body.editor); at != "" {
				h.Set("Location", at)
			}
		}
	}
	w.sendHeader()
	return w.missed
}

// Release gives back what the writer borrowed. It must not be used afterwards.
func (w *Writer) Release() {
	if w.body != nil {
		w.body.release()
	}
}
