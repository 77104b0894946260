package translate

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/gatehouse/gatehouse/module/internal/rest/answer"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// body translates one body: bytes come in as the upstream sends them, are decompressed and decoded, and
// the editor's output is framed and held until the header is sent.
type body struct {
	w      *Writer
	answer *answer.Answer
	sure   bool // the answer is labelled JSON
	passes bool // of its type the resource passes what is no JSON
	unpack *unpacker
	isXML  bool // xml has what came so far of an answer in XML, which is read as a whole
	xml    []byte
	start  []byte   // the beginning, until it is known where the JSON begins and how it is encoded; then nil
	look   *looking // while it is not known whether an object is a list
	in     charset.Reading
	text   charset.Writer // leads to the editor
	editor *splice.Editor
	held   []byte
	limit  int
	done   bool // the editor has seen all
	raw    bool // it is no JSON, and passes
}

// newBody decides by the header of a success whether its body is translated. It returns nil if it passes
// unchanged.
func newBody(w *Writer) (*body, *Failure) {
	h := w.Header()
	media := mediaOf(h)
	sure := envelope.IsJSON(media)
	declared := w.config.Answer.Declares()
	isXML := readsXML(w.config.Answer, media)
	switch {
	case isXML:
	case declared && w.config.Answer.Passes(media) && !envelope.MaybeJSON(media):
		return nil, nil
	case declared && !sure && !envelope.MaybeJSON(media) && !(strings.HasSuffix(media, "xml") && w.config.Answer.Writes()): // that may be empty
		return nil, notJSON(w, nil)
	case !declared && (!sure && !envelope.MaybeJSON(media) || isAttachment(h)):
		return nil, nil
	}
	b := &body{w: w, answer: w.config.Answer, sure: sure, isXML: isXML, start: borrowBuffer(), limit: hold, held: borrowBuffer()}
	b.passes = declared && b.answer.Passes(media)
	b.in = charset.Read(charsetOf(h), b.answer.Shape.Charset)
	if b.answer.Kind == resource.Create || b.answer.ByCursor() {
		b.limit = holdCreated
	}
	if coding := contentCoding(h); coding != "" {
		if b.unpack = newUnpacker(coding, b.writePlain); b.unpack == nil {
			if !sure && !declared {
				return nil, nil
			}
			return nil, &Failure{Coding, fmt.Errorf("Content-Encoding %q, expected none, as was asked for, or one of gzip, deflate and zstd", coding)}
		}
	}
	return b, nil
}

func (b *body) write(p []byte) error {
	if b.unpack != nil {
		return b.unpack.write(p)
	}
	return b.writePlain(p)
}

// writePlain takes decompressed bytes.
func (b *body) writePlain(p []byte) error {
	if b.look != nil {
		return b.writeLooking(p)
	}
	if b.isXML {
		return b.addXML(p)
	}
	if b.start == nil {
		return b.writeDecoded(p)
	}
	if b.start = append(b.start, p...); len(b.start) <= sample {
		return nil
	}
	return b.decideStart(false)
}

// decideStart decides, when enough has come, where the JSON begins and how it is encoded.
func (b *body) decideStart(whole bool) error {
	raw, a := b.start, b.answer
	b.start = nil
	defer returnBuffer(raw)
	text, err := b.text.Begin(b.in, raw, whole)
	if err != nil {
		return b.handleUndecodable(raw, err)
	}
	at, ok := findJSON(text, b.sure, whole)
	strange := !ok || followsText(text[:at])
	switch {
	case !a.Declares() && whole && len(bytes.TrimSpace(text)) == 0, b.passes && !b.sure && strange && !beginsAsJSON(text, whole):
		return b.passRaw(raw)
	case !ok && !b.sure && a.Declares():
		return notJSON(b.w, text)
	case !ok && b.sure && a.Writes():
		if f := judgeText(b.w, text, whole); f != nil {
			return f
		}
	case a.MayBeList() && a.Plan == nil && strange && beginsAsJSON(text, whole):
		at, ok = 0, true // and something behind it
	case !ok && (!b.sure || a.MayBeList() && a.Plan == nil), a.MayBeList() && a.Plan == nil && strange:
		return b.passRaw(raw) // a page, or one that has something like JSON in it
	}
	if ok && a.MayBeList() {
		if first := bytes.TrimLeft(text[at:], whiteSpace); first[0] == '{' {
			return b.startLooking(raw, text, at, whole)
		}
		a.MakeArrayPage()
	}
	return b.startEditing(text[at:])
}

// handleUndecodable handles an answer whose text cannot be decoded. One that need not be JSON passes.
func (b *body) handleUndecodable(raw []byte, err error) error {
	text := bytes.TrimLeft(raw, "\xef\xbb\xbf \t\r\n")
	container := len(text) > 0 && beginsContainer(text[0])
	json := b.sure || container
	switch {
	case !json && b.passes, !json && !b.answer.Declares():
		return b.passRaw(raw)
	case !json:
		return notJSON(b.w, text)
	case b.answer.Writes():
		if f := judgeUndecodable(b.w, text, err); f != nil {
			return f
		}
	}
	return err
}

// judgeText judges an answer to a write that is labelled JSON, and has no object or array. It returns nil if it is
// JSON all the same, and a failure of kind Missing if it is a word.
func judgeText(w *Writer, text []byte, whole bool) *Failure {
	err := checkJSON(text, whole)
	switch {
	case err == nil:
		return nil
	case isWord(text):
		return notJSON(w, text)
	}
	return failureOf(err)
}

// judgeUndecodable is judgeText for a text that cannot be decoded because of err. It returns nil for an object or array.
func judgeUndecodable(w *Writer, text []byte, err error) *Failure {
	text = bytes.TrimLeft(text, "\xef\xbb\xbf \t\r\n")
	switch {
	case len(text) > 0 && beginsContainer(text[0]):
		return nil
	case isWord(text):
		return notJSON(w, text)
	}
	return failureOf(err)
}

// startEditing begins to translate a text, whose beginning is decoded.
func (b *body) startEditing(text []byte) error {
	b.editor = b.answer.Editor(b)
	b.text.To(b.editor)
	if b.answer.List != nil {
		b.held = append(b.held, `{"data":`...)
	}
	_, err := b.editor.Write(text)
	return err
}

// passRaw begins to pass a text unchanged.
func (b *body) passRaw(text []byte) error {
	b.raw = true
	if a := b.answer; a.Conventional && a.Status != 0 && (len(text) == 0 || mediaOf(b.w.Header()) == "text/plain") {
		b.w.useConventionalStatus()
	}
	b.commitRaw()
	return b.writeDecoded(text)
}

// writeDecoded takes bytes behind the beginning of the text.
func (b *body) writeDecoded(p []byte) error {
	if b.raw {
		_, err := b.w.ResponseWriter.Write(p)
		return err
	}
	_, err := b.text.Write(p)
	return err
}

// Write takes what the editor passes on.
func (b *body) Write(p []byte) (int, error) {
	if !b.w.committed {
		if len(b.held)+len(p) <= b.holds() {
			b.held = append(b.held, p...)
			return len(p), nil
		}
		if err := b.editor.Commit(); err != nil {
			return 0, err
		}
		b.commit()
	}
	return b.w.ResponseWriter.Write(p)
}

// holds returns how much is kept before the header goes out: more while one document may turn out not to be the resource.
func (b *body) holds() int {
	if b.answer.List == nil && !b.editor.Settled() {
		return holdCreated
	}
	return b.limit
}

// close ends the body.
func (b *body) close() error {
	if b.unpack != nil {
		if err := b.unpack.close(); err != nil {
			return err
		}
	}
	if b.isXML {
		if err := b.readXML(); err != nil {
			return err
		}
	}
	if b.start != nil {
		if err := b.decideStart(true); err != nil {
			return err
		}
	}
	if b.look != nil {
		if err := b.decideList(true); err != nil {
			return err
		}
	}
	if b.raw {
		return nil
	}
	if err := b.text.Close(); err != nil {
		return err
	}
	if err := b.editor.Close(); err != nil {
		if !errors.Is(err, splice.ErrRoot) || !b.answer.IsEmptyPage(b.editor, b.w.Header()) {
			return err
		}
		b.held = append(b.held, "[]"...)
	}
	b.done = true
	if b.answer.HasNoItem(b.editor) {
		return &Failure{Missing, ErrNothing}
	}
	b.answer.CompletePortion(b.editor)
	if b.answer.List != nil {
		b.answer.CompletePage(b.editor, b.w.Header())
		if err := b.answer.SetNextCursor(b.editor, true); err != nil {
			return &Failure{Cursor, err}
		}
		tail := append([]byte(nil), `,"pagination":`...)
		tail = b.answer.List.Pagination(tail, b.answer.Total(b.editor, b.w.Header(), true))
		if _, err := b.Write(append(tail, '}')); err != nil {
			return err
		}
	}
	if !b.w.committed {
		b.commit()
	}
	return nil
}

// commit sends the header, and the held part of the body.
func (b *body) commit() {
	w, a, h := b.w, b.answer, b.w.Header()
	back := envelope.TakeTrailers(h)
	dropBodyFields(h)
	media := "application/json"
	if w.config.MediaType != "" {
		media = w.config.MediaType
	}
	h.Set("Content-Type", media)
	if !b.done {
		_ = a.SetNextCursor(b.editor, false) // close tells what is wrong
	}
	if a.List != nil && a.HasPageLinks(b.editor, h) {
		h.Set("Link", a.List.LinkHeader(a.Path, a.Query, a.Seen(b.editor, h, b.done)))
		w.linked = true
	}
	if a.Personal() {
		h.Add("Vary", "Authorization")
	}
	if !a.Conventional || !a.Failed(b.editor) {
		if at := a.Location(b.editor); at != "" && !(a.Conventional && strings.HasPrefix(h.Get("Location"), "/")) {
			h.Set("Location", at)
		}
		if a.Status != 0 {
			w.status = a.Status
		}
	}
	if b.done && len(h["Trailer"]) == 0 {
		h.Set("Content-Length", strconv.Itoa(len(b.held)))
	}
	w.sendHeader()
	_, _ = w.ResponseWriter.Write(b.held) // the next write, or nobody, tells of a client that has gone
	returnBuffer(b.held)
	b.held = nil
	back()
}

// commitRaw sends the header of a body that turned out not to be JSON.
func (b *body) commitRaw() {
	if b.unpack != nil {
		dropBodyFields(b.w.Header())
	}
	b.w.sendHeader()
}

func (b *body) release() {
	if b.unpack != nil {
		b.unpack.stop()
	}
	returnBuffer(b.start)
	if b.look != nil {
		b.look.editor.Release()
	}
	if b.editor != nil {
		b.editor.Release()
	}
	returnBuffer(b.held)
	b.held = nil
}

// holds are the buffers that bodies are kept in. Those that have grown are left to the collector.
var holds = sync.Pool{New: func() any { return new([hold]byte) }}

func borrowBuffer() []byte {
	buffer, ok := holds.Get().(*[hold]byte)
	if !ok {
		buffer = new([hold]byte)
	}
	return buffer[:0]
}

func returnBuffer(b []byte) {
	if cap(b) == hold {
		holds.Put((*[hold]byte)(b[:hold]))
	}
}
