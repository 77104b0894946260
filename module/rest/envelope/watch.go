package envelope

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// watch reads the beginning of a success, to see whether it is one.
type watch struct {
	d       *dialect
	status  int // the upstream's
	in      charset.Reading
	json    bool // so it is labelled
	coded   bool // its text can be read only when it is whole
	stage   stage
	raw     []byte // held back, nil as soon as it is passed on
	kept    bool   // raw is a copy
	passing bool
	editor  *splice.Editor
	rule    *condition      // the first that was seen to hold
	text    *charset.Writer // leads to the editor; nil: the text is read as it is

	header    int            // the condition on a header field that holds; -1: none
	words     *splice.Scalar // a body that is text and not JSON, such as `Ok.`; nil until it is read
	notJSON   bool           // it is known that the body is not JSON
	permitted bool           // it may be something else
	reads     bool           // it answers a GET, which is not answered with nothing
	unread    bool           // the header alone has decided, and no body was looked at
}

// stage is what is known of the text.
type stage uint8

const (
	blank    stage = iota // white space so far
	scanning              // JSON so far
	printed               // something else, which may have JSON behind it
	foreign               // no JSON
)

// conditional reports whether any success is asked.
func (d *dialect) conditional() bool { return d != nil && len(d.fail) > 0 }

// watch decides by the header whether an answer may be JSON with a failure in it, nil if
// not, and asks what is about the header. Parts, streams and what is to be stored as a file
// are no such JSON, and the answer to a HEAD has no body. CONNECT begins a tunnel.
func (c *Config) watch(status int, method string, header http.Header) *watch {
	d := c.dialect
	if !d.conditional() || status < 200 || status > 299 || method == http.MethodConnect {
		return nil
	}
	media, label := MediaType(header)
	text, foreign := d.legible(status, method, media, header)
	permitted := foreign && c.Passes != nil && c.Passes(media)
	at := d.headed(header)
	if at < 0 && !text && (!foreign || permitted) {
		return nil
	}
	return &watch{
		d: d, status: status, in: charset.Read(label, c.Charset), json: IsJSON(media), coded: coding(header) != "",
		header: at, notJSON: foreign && !text, permitted: permitted, reads: method == http.MethodGet,
	}
}

// legible reports whether the body may be JSON that can be read, and whether it may be
// something that is not JSON.
func (d *dialect) legible(status int, method, media string, h http.Header) (text, foreign bool) {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent:
		return false, false
	}
	disposition, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
	if !d.bodies || method == http.MethodHead || strings.EqualFold(strings.TrimSpace(disposition), "attachment") || endless[media] {
		return false, false
	}
	labelled := IsJSON(media)
	return (labelled || MaybeJSON(media)) && decodes(h), d.notJSON && !labelled
}

// endless are the types of what goes on as long as it likes.
var endless = map[string]bool{
	"text/event-stream": true, "application/x-ndjson": true, "application/ndjson": true, "application/jsonl": true, "application/json-seq": true,
}

// coding is the content coding, "" for none.
func coding(h http.Header) string {
	name := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ",")))
	if name == "identity" {
		return ""
	}
	return name
}

func decodes(h http.Header) bool {
	switch coding(h) {
	case "", "gzip", "x-gzip", "deflate", "zstd":
		return true
	}
	return false
}

// feed reads on. What is held first is still the caller's, until keep.
func (w *watch) feed(p []byte) verdict {
	if !w.passing {
		if w.kept = len(w.raw) > 0; w.kept {
			w.raw = append(w.raw, p...)
		} else {
			w.raw = p[:len(p):len(p)]
		}
	}
	if w.coded {
		return open
	}
	if w.stage == blank {
		p = w.begin()
	}
	switch w.stage {
	case foreign:
		return w.judge(true)
	case scanning:
		return w.scan(p)
	}
	return open
}

// keep makes what is held our own: most answers are decided before it is needed.
func (w *watch) keep() {
	if !w.kept {
		w.raw, w.kept = bytes.Clone(w.raw), true
	}
}

// begin looks at the first characters. It returns what is to be scanned.
func (w *watch) begin() []byte {
	text := w.heldText()
	if len(text) == 0 || len(w.raw) < len(bom) && bytes.HasPrefix(bom, w.raw) {
		return nil
	}
	switch {
	case text[0] == '{' || text[0] == '[' || w.json && strings.IndexByte(`"-0123456789tfn`, text[0]) >= 0:
		w.stage = scanning
		w.readAs(w.in)
		return text
	case len(text) < len("<!doctype html") && text[0] == '<' && !bytes.ContainsRune(text, '>'):
		return nil // a page's beginning, perhaps
	case hasFold(text, "<!doctype html") || hasFold(text, "<html"):
		w.stage, w.notJSON, w.words = foreign, true, &unequal
	default:
		w.stage = printed
	}
	return nil
}

// readAs begins to read. What is not in UTF-8 is decoded on the way: the second byte of a
// character may be a backslash.
func (w *watch) readAs(in charset.Reading) {
	w.release()
	w.in = in
	w.editor, w.text = w.d.plan.New(io.Discard), new(charset.Writer)
	_, _ = w.text.Begin(in, nil, false) // nothing cannot be wrong
	w.text.To(w.editor)
}

func (w *watch) scan(p []byte) verdict {
	err := w.decode(p)
	if errors.Is(err, charset.ErrText) {
		err = w.readAgain(p)
	}
	v := w.judge(false)
	if err != nil && v == open && w.text == nil && !w.passing {
		w.readAs(charset.Read("gb18030", nil))
		err = w.decode(w.heldText())
		v = w.judge(false)
	}
	if err != nil && v == open {
		w.release()
		if w.stage = printed; w.passing {
			w.notJSON = true
			return w.judge(true)
		}
	}
	return v
}

func (w *watch) heldText() []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(w.raw, bom), " \t\r\n")
}

func (w *watch) decode(p []byte) (err error) {
	if w.text == nil {
		_, err = w.editor.Write(p)
	} else {
		_, err = w.text.Write(p)
	}
	return err
}

// readAgain is for a text that cannot be decoded as it was begun. As long as all of it is held
// it is read from its beginning, in the other charset that it may be in. A text that cannot be
// decoded is passed on as it is if it is no failure; a failure must not pass because of a wrong
// byte, so it is judged by its bytes, and where these are no JSON as GB, in which a character
// may have a backslash. Nobody is shown what is read so.
func (w *watch) readAgain(p []byte) error {
	if w.passing {
		w.text, w.notJSON = nil, true
		return w.decode(p)
	}
	if other, ok := w.in.Instead(); ok {
		w.readAs(other)
		if err := w.decode(w.heldText()); !errors.Is(err, charset.ErrText) {
			return err
		}
	}
	w.readAs(w.in)
	w.text, w.notJSON = nil, true
	return w.decode(w.heldText())
}

// end is asked when no more is read: of a text that is cut, or of one that ended.
func (w *watch) end(h http.Header, cut bool) verdict {
	if w.editor != nil {
		ended := !cut && w.editor.Close() == nil
		w.notJSON = w.notJSON || !cut && !ended
		return w.judge(ended)
	}
	if w.passing || w.stage == foreign {
		return w.judge(true)
	}
	ended := w.read(h, cut)
	return w.judge(ended || w.editor == nil)
}

// read looks at what is held at once. It reports whether it is a whole text in JSON.
func (w *watch) read(h http.Header, cut bool) (ended bool) {
	if len(w.raw) == 0 {
		w.notJSON, w.words = w.reads, wordsOf(nil, cut)
		return false
	}
	plain, more, ok := decompress(h["Content-Encoding"], w.raw)
	if !ok {
		w.notJSON, w.words = true, &unequal
		return false
	}
	cut = cut || more
	text, readable := w.in.Text(plain, cut)
	if !readable {
		if text, ok = charset.Read("gb18030", nil).Text(plain, cut); !ok {
			text = bytes.TrimPrefix(plain, bom)
		}
	}
	if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 {
		w.notJSON, w.words = w.reads, wordsOf(nil, cut)
		return false
	}
	w.editor, _, ended = w.d.look(text, cut)
	w.notJSON = w.editor == nil || !cut && !ended || !readable
	if w.editor == nil {
		w.words = wordsOf(text, cut)
		return false
	}
	if w.stage, w.text = scanning, nil; w.coded || !utf8.Valid(charset.Whole(plain)) {
		w.stage = foreign // what follows cannot be read
	}
	return ended
}

func (w *watch) release() {
	if w.editor != nil {
		w.editor.Release()
		w.editor, w.text = nil, nil
	}
}
