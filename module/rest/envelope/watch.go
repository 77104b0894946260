package envelope

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// watch examines the beginning of a success, to find out whether it is a failure.
type watch struct {
	d       *dialect
	status  int // the upstream's
	in      charset.Reading
	json    bool // by its label
	coded   bool // it has a content coding, so that only the complete body can be read
	stage   stage
	raw     []byte // held back; nil once it is passed on
	kept    bool   // raw is a copy
	passing bool
	editor  *splice.Editor
	rule    *condition      // the first condition found to hold
	text    *charset.Writer // decodes for the editor; nil: the text needs no decoding

	header    int            // index of the condition on a header field that holds; -1: none
	words     *splice.Scalar // a body that is text and not JSON, such as `Ok.`; nil until it is read
	notJSON   bool           // the body is known not to be JSON
	permitted bool           // the body may be something else than JSON
	reads     bool           // it answers a GET, which needs a body
	unread    bool           // the header alone has decided, and no body was read
}

// stage is what is known of the text so far.
type stage uint8

const (
	blank    stage = iota // only white space
	scanning              // only JSON
	printed               // something else, which may be followed by JSON
	foreign               // not JSON
)

// conditional reports whether any success is checked.
func (d *dialect) conditional() bool { return d != nil && len(d.fail) > 0 }

// watch decides by the header whether a response may be JSON that reports a failure, and returns
// nil if not. It evaluates the conditions on the header. Multipart bodies, streams and
// attachments are not checked, and neither are responses to HEAD, which have no body, and to
// CONNECT, which start a tunnel.
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

// legible reports whether the body may be readable JSON, and whether it may be something that is
// not JSON.
func (d *dialect) legible(status int, method, media string, h http.Header) (text, foreign bool) {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent:
		return false, false
	}
	disposition, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
	if !d.bodies || method == http.MethodHead || strings.EqualFold(strings.TrimSpace(disposition), "attachment") || httpx.IsStream(media) {
		return false, false
	}
	labelled := IsJSON(media)
	return (labelled || MaybeJSON(media)) && decodes(h), d.notJSON && !labelled
}

// coding returns the content coding, or "" for none.
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

// feed reads the next part. The bytes that are held belong to the caller until keep is called.
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

// keep copies the held bytes. Most responses are decided before that is necessary.
func (w *watch) keep() {
	if !w.kept {
		w.raw, w.kept = bytes.Clone(w.raw), true
	}
}

// begin examines the first characters and returns what is to be scanned.
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
		return nil // perhaps the beginning of an HTML page
	case hasFold(text, "<!doctype html") || hasFold(text, "<html"):
		w.stage, w.notJSON, w.words = foreign, true, &unequal
	default:
		w.stage = printed
	}
	return nil
}

// readAs starts reading in an encoding. Anything but UTF-8 is decoded on the way, because the
// second byte of a character may be a backslash.
func (w *watch) readAs(in charset.Reading) {
	w.release()
	w.in = in
	w.editor, w.text = w.d.plan.New(io.Discard), new(charset.Writer)
	_, _ = w.text.Begin(in, nil, false) // an empty text cannot be wrong
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

// readAgain is called when a text cannot be decoded as assumed. As long as all of it is held, it
// is read again from the start in the other charset that it may be in. A text that cannot be
// decoded is passed on unchanged unless it is a failure. A failure must not pass because of a
// single invalid byte, so such a text is judged by its bytes, and if these are not JSON, as GB,
// in which a character may contain a backslash. Text that was decoded like this is never shown.
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

// end decides when no more is read, because the text is truncated or has ended.
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

// read examines everything that is held at once. It reports whether it is a complete JSON text.
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
		w.stage = foreign // the rest cannot be read
	}
	return ended
}

func (w *watch) release() {
	if w.editor != nil {
		w.editor.Release()
		w.editor, w.text = nil, nil
	}
}
