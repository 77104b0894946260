package translate

import (
	"errors"
	"io"
	"net/http"
	"strings"

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
	a, media := w.config.Answer, mediaOf(h)
	switch {
	case isAttachment(h), !envelope.IsJSON(media) && !envelope.MaybeJSON(media) && !readsXML(a, media):
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
// succeeded. Broken JSON does not make a failure of it: the upstream has done what it was asked for.
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
		b = p.decideStatus(false)
	}
	return p.writeBody(b)
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
	return p.writeBody(p.decideStatus(true))
}

// decideStatus sends the header, and returns what was kept of the body.
func (p *peek) decideStatus(whole bool) []byte {
	p.done = true
	h := p.w.Header()
	back := envelope.TakeTrailers(h)
	if location, ok := p.readOutcome(whole); ok {
		p.w.useConventionalStatus()
		if location != "" && !strings.HasPrefix(h.Get("Location"), "/") {
			h.Set("Location", location)
		}
	}
	p.w.sendHeader()
	back()
	kept := p.kept
	p.kept = nil
	return kept
}

var errEnough = errors.New("enough was read")

// readOutcome reports whether the body is that of a success, which an HTML page or a declared failure is
// not, and returns the address of the new resource if the body tells its id.
func (p *peek) readOutcome(whole bool) (location string, ok bool) {
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
			return "", envelope.IsJSON(media)
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
		return "", err == nil && whole
	}
	at, found := 0, false
	var rest charset.Writer
	begun, err := rest.Begin(charset.Read(charsetOf(h), a.Shape.Charset), text, whole)
	if err == nil {
		at, found = findJSON(begun, sure, whole)
	}
	if !found || !sure && followsText(begun[:at]) {
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
