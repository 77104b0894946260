package envelope

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"

	"github.com/gatehouse/gatehouse/module/rest/splice"
)

// watch reads the beginning of a success, to see whether it is one.
type watch struct {
	d       *dialect
	status  int // the upstream's
	charset string
	json    bool // so it is labelled
	coded   bool // its text can be read only when it is whole
	stage   stage
	raw     []byte // held back, nil as soon as it is passed on
	kept    bool   // raw is a copy
	passing bool
	editor  *splice.Editor
	rule    *condition // the first that was seen to hold
	text    io.Writer  // leads to the editor
	checked int        // bytes of raw known to be UTF-8
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
// not. Parts, streams and what is to be stored as a file are none, and the answer to a
// HEAD has no body. CONNECT begins a tunnel.
func (d *dialect) watch(status int, method string, h http.Header) *watch {
	if !d.conditional() || status < 200 || status > 299 || method == http.MethodHead || method == http.MethodConnect {
		return nil
	}
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent:
		return nil
	}
	disposition, _, _ := strings.Cut(h.Get("Content-Disposition"), ";")
	if strings.EqualFold(strings.TrimSpace(disposition), "attachment") || !decodes(h) {
		return nil
	}
	media, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	labelled := isJSONType(media)
	if !labelled && media != "" && media != "text/html" && media != "text/plain" {
		return nil
	}
	return &watch{d: d, status: status, charset: strings.ToLower(params["charset"]), json: labelled, coded: coding(h) != ""}
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
		return passes
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
	text := bytes.TrimLeft(bytes.TrimPrefix(w.raw, bom), " \t\r\n")
	if len(text) == 0 || len(w.raw) < len(bom) && bytes.HasPrefix(bom, w.raw) {
		return nil
	}
	switch {
	case text[0] == '{' || text[0] == '[' || w.json && strings.IndexByte(`"-0123456789tfn`, text[0]) >= 0:
		w.start()
		return text
	case len(text) < len("<!doctype html") && text[0] == '<' && !bytes.ContainsRune(text, '>'):
		return nil // a page's beginning, perhaps
	case hasFold(text, "<!doctype html") || hasFold(text, "<html"):
		w.stage = foreign
	default:
		w.stage = printed
	}
	return nil
}

func (w *watch) start() {
	w.stage = scanning
	w.editor = w.d.plan.New(nowhere{})
	w.text = w.editor
	switch w.charset {
	case "gbk", "gb2312", "gb18030", "x-gbk", "cp936":
		w.text = fromGBK(w.editor)
	}
}

// fromGBK decodes on the way: the second byte of a character may be a backslash.
func fromGBK(e *splice.Editor) io.Writer {
	return transform.NewWriter(e, simplifiedchinese.GB18030.NewDecoder())
}

func (w *watch) scan(p []byte) verdict {
	if w.claimsUTF8() && !w.passing {
		if w.isUTF8(); w.checked < 0 { // it is not, so it is read as GB18030 from the start
			w.editor.Release()
			w.editor = w.d.plan.New(nowhere{})
			w.text = fromGBK(w.editor)
			w.charset = "gb18030"
			p = bytes.TrimPrefix(w.raw, bom)
		}
	}
	_, err := w.text.Write(p)
	v := w.d.judge(w.editor, false)
	if err != nil && v == open {
		w.release()
		if w.stage = printed; w.passing {
			return passes // whatever it is, it is no JSON
		}
	}
	return v
}

func (w *watch) claimsUTF8() bool {
	return w.charset == "" || w.charset == "utf-8" || w.charset == "utf8" || w.charset == "us-ascii"
}

// isUTF8 goes on to check what is held. A character may still be cut at its end.
func (w *watch) isUTF8() {
	rest := wholeRunes(w.raw[w.checked:])
	if !utf8.Valid(rest) {
		w.checked = -1
		return
	}
	w.checked += len(rest)
}

// end is asked when no more is read: of a text that is cut, or of one that ended.
func (w *watch) end(h http.Header, cut bool) verdict {
	if w.editor != nil {
		return w.d.judge(w.editor, !cut && w.editor.Close() == nil)
	}
	if w.passing || w.stage == foreign {
		return passes
	}
	plain, more, ok := decompress(h["Content-Encoding"], w.raw)
	if !ok {
		return passes
	}
	cut = cut || more
	text, ok := toUTF8(plain, w.charset, cut)
	if text = bytes.TrimLeft(text, " \t\r\n"); !ok || len(text) == 0 {
		return passes
	}
	var ended bool
	if w.editor, ended = w.d.look(text, cut); w.editor == nil {
		return passes
	}
	w.text = w.editor
	if w.stage = scanning; w.coded || !w.claimsUTF8() || !utf8.Valid(wholeRunes(plain)) {
		w.stage = foreign // what follows cannot be read
	}
	return w.d.judge(w.editor, ended)
}

func (w *watch) release() {
	if w.editor != nil {
		w.editor.Release()
		w.editor, w.text = nil, nil
	}
}
