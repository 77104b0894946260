package translate

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// conventionReplaces are the statuses that the convention's status replaces if none is declared. 202 is not
// among them: nothing was created or deleted yet.
var conventionReplaces = map[int]bool{
	http.StatusOK: true, http.StatusCreated: true, http.StatusNonAuthoritativeInfo: true, http.StatusNoContent: true, http.StatusResetContent: true,
}

// applyConvention sets the status of a creation or deletion without a declared one. It reports false if it
// must see the body first. An HTML page keeps its status: it may be a sign-in page, and must not be taken
// for a success.
func (w *Writer) applyConvention(h http.Header) bool {
	a := w.config.Answer
	switch {
	case isUnjudged(a, h):
		return true
	case h.Get("Content-Length") == "0":
		w.useConventionalStatus()
		return true
	}
	limit := holdCreated
	if a.Status == http.StatusNoContent {
		limit = hold
	}
	w.peek = &peek{w: w, limit: limit}
	return false
}

// isUnjudged reports whether a body cannot say that a write has failed, and keeps its status: an attachment, or one of a type
// that is not read.
func isUnjudged(a *answer.Answer, h http.Header) bool {
	media := mediaOf(h)
	return isAttachment(h) || !envelope.IsJSON(media) && !envelope.MaybeJSON(media) && !readsXML(a, media)
}

// useConventionalStatus gives the answer the convention's status.
func (w *Writer) useConventionalStatus() {
	a, h := w.config.Answer, w.Header()
	if w.status = a.Status; w.status == http.StatusNoContent {
		w.dropBody(w.status)
		return
	}
	if w.config.MediaType != "" && envelope.IsJSON(mediaOf(h)) {
		h.Set("Content-Type", w.config.MediaType)
	}
}

// peek keeps the beginning of a body that passes unchanged until it is known whether it says that the write
// succeeded. What is labelled JSON and is none is the failure that it is where JSON is declared: pages of errors come
// with status 200 too.
type peek struct {
	w     *Writer
	limit int
	kept  []byte
	done  bool
}

func (p *peek) write(b []byte) error {
	if p.done {
		return p.writeBody(b)
	}
	if p.kept = append(p.kept, b...); len(p.kept) <= p.limit {
		return nil
	}
	return p.decideStatus(false)
}

func (p *peek) writeBody(b []byte) error {
	if p.w.swallow || len(b) == 0 {
		return nil
	}
	_, err := p.w.ResponseWriter.Write(b)
	return err
}

func (p *peek) close() error {
	if p.done {
		return nil
	}
	return p.decideStatus(true)
}

// decideStatus sends the header, and what was kept of the body.
func (p *peek) decideStatus(whole bool) error {
	p.done = true
	location, ok, f := p.readOutcome(whole)
	if f != nil {
		p.w.failure = f
		return f
	}
	if !ok && p.w.config.Answer.KeepBody() {
		return p.edit()
	}
	h := p.w.Header()
	back := envelope.TakeTrailers(h)
	if ok {
		p.w.useConventionalStatus()
		if location != "" && !strings.HasPrefix(h.Get("Location"), "/") {
			h.Set("Location", location)
		}
	}
	p.w.sendHeader()
	back()
	kept := p.kept
	p.kept = nil
	return p.writeBody(kept)
}

// edit has the body edited after all.
func (p *peek) edit() error {
	w, kept := p.w, p.kept
	w.peek, p.kept = nil, nil
	if w.beginBody() {
		w.sendHeader()
	}
	_, err := w.Write(kept)
	return err
}

var errEnough = errors.New("enough was read")

// readOutcome reports whether the body is that of a success, which an HTML page or a declared failure is
// not, and returns the address of the new resource if the body tells its id. It returns a failure for what is labelled
// JSON and cannot be read.
func (p *peek) readOutcome(whole bool) (location string, ok bool, _ *Failure) {
	h, a := p.w.Header(), p.w.config.Answer
	media := mediaOf(h)
	text := p.kept
	if coding := contentCoding(h); coding != "" {
		text = nil
		u := newUnpacker(coding, func(b []byte) error {
			if text = append(text, b...); len(text) > p.limit {
				whole = false
				return errEnough
			}
			return nil
		})
		if u == nil {
			return "", envelope.IsJSON(media), nil
		}
		defer u.stop()
		err := u.write(p.kept)
		if err == nil && whole {
			err = u.close()
		}
		whole = whole && err == nil
	}
	sure := envelope.IsJSON(media)
	if readsXML(a, media) {
		_, err := decodeXML(a, h, text)
		return "", err == nil && whole, nil
	}
	at, found := 0, false
	var rest charset.Writer
	begun, err := rest.Begin(charset.Read(charsetOf(h), a.Shape.Charset), text, whole)
	if err == nil {
		at, found = findJSON(begun, sure, whole)
	}
	switch {
	case err != nil && sure:
		return "", true, unlessWord(judgeUndecodable(p.w, text, err))
	case !found && sure:
		return "", true, unlessWord(judgeText(p.w, begun, whole))
	case !found || !sure && followsText(begun[:at]):
		return "", media == "text/plain" || len(text) == 0 && whole, nil
	case a.LookPlan() == nil:
		return "", true, nil
	}
	e := a.LookPlan().New(io.Discard)
	defer e.Release()
	_, err = e.Write(begun[at:])
	if err == nil && whole {
		err = e.Close()
	}
	switch {
	case err != nil && sure && !isNearlyJSON(begun[at:], whole):
		return "", false, failureOf(err)
	case err != nil:
		return "", false, nil
	}
	return a.Location(e), !(a.Conventional && a.Failed(e)), nil
}

// unlessWord returns nil for a failure that only says that a write was answered by a word.
func unlessWord(f *Failure) *Failure {
	if f != nil && f.Kind == Missing {
		return nil
	}
	return f
}
