package translate

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// usuallyReplaced are the statuses in whose place the status of the convention is put where
// none is declared. 202 is not among them: nothing was created or deleted yet.
var usuallyReplaced = map[int]bool{
	http.StatusOK: true, http.StatusCreated: true, http.StatusNonAuthoritativeInfo: true, http.StatusNoContent: true, http.StatusResetContent: true,
}

// usually answers a creation or deletion of which no status is declared. It reports false
// where the body must be seen first. A page in HTML stays what it is: it may be one to sign in
// at, and must not be taken for something that was done.
func (w *Writer) usually(h http.Header) bool {
	a, media := w.config.Answer, mediaOf(h)
	deletes := a.Status == http.StatusNoContent
	switch {
	case isAttachment(h), !envelope.IsJSON(media) && !envelope.MaybeJSON(media) && !readsXML(a, media):
		return true
	case h.Get("Content-Length") == "0":
		w.become()
		return true
	}
	limit := holdCreated
	if deletes {
		limit = hold
	}
	w.peek = &peek{w: w, limit: limit}
	return false
}

// become gives the answer the status of the convention.
func (w *Writer) become() {
	a, h := w.config.Answer, w.Header()
	if w.status = a.Status; w.status == http.StatusNoContent {
		w.swallow = true
		forget(h)
		h.Del("Content-Type")
		return
	}
	if w.config.MediaType != "" && envelope.IsJSON(mediaOf(h)) {
		h.Set("Content-Type", w.config.MediaType)
	}
}

// peek keeps the beginning of a body that is passed on as it is, until it is known what it
// says. What was done at the upstream is done: JSON that is broken makes no failure of it.
type peek struct {
	w     *Writer
	limit int
	kept  []byte
	done  bool
}

func (p *peek) write(b []byte) error {
	if !p.done {
		if p.kept = append(p.kept, b...); len(p.kept) <= p.limit {
			return nil
		}
		b = p.decide(false)
	}
	return p.pass(b)
}

func (p *peek) pass(b []byte) error {
	if p.w.swallow || p.w.config.Answer.Head || len(b) == 0 {
		return nil
	}
	_, err := p.w.ResponseWriter.Write(b)
	return err
}

func (p *peek) close() error {
	if p.done {
		return nil
	}
	return p.pass(p.decide(true))
}

// decide sends the header, and returns what was kept.
func (p *peek) decide(whole bool) []byte {
	p.done = true
	h := p.w.Header()
	back := envelope.TakeTrailers(h)
	if location, ok := p.read(whole); ok {
		p.w.become()
		if location != "" && !strings.HasPrefix(h.Get("Location"), "/") {
			h.Set("Location", location)
		}
	}
	p.w.pass()
	back()
	kept := p.kept
	p.kept = nil
	return kept
}

var errEnough = errors.New("enough was read")

// read reports whether the body is a success, which a page or a declared failure is not, and
// returns the address of the new resource if it tells one.
func (p *peek) read(whole bool) (location string, ok bool) {
	h, a := p.w.Header(), p.w.config.Answer
	media := mediaOf(h)
	text := p.kept
	if coding := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ","))); coding != "" && coding != "identity" {
		text = nil
		u := newUnpacker(coding, func(b []byte) error {
			if text = append(text, b...); len(text) > p.limit {
				whole = false
				return errEnough
			}
			return nil
		})
		if u == nil {
			return "", envelope.IsJSON(media)
		}
		defer u.release()
		err := u.write(p.kept)
		if err == nil && whole {
			err = u.close()
		}
		whole = whole && err == nil
	}
	sure := envelope.IsJSON(media)
	if readsXML(a, media) {
		_, err := decodeXML(a, h, text)
		return "", err == nil && whole
	}
	at, found := 0, false
	var rest charset.Writer
	begun, err := rest.Begin(charset.Read(charsetOf(h), a.Charset()), text, whole)
	if err == nil {
		at, found = findJSON(begun, sure, whole)
	}
	if !found || !sure && behindText(begun[:at]) {
		return "", sure || media == "text/plain" || len(text) == 0 && whole
	}
	if a.LookPlan() == nil {
		return "", true
	}
	e := a.LookPlan().New(io.Discard)
	defer e.Release()
	_, err = e.Write(begun[at:])
	if err == nil && whole {
		err = e.Close()
	}
	if err != nil {
		return "", sure
	}
	return a.Location(e), !(a.Conventional && a.Failed(e))
}
