package charset

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// Writer decodes a text as it streams. Its zero value is used by calling Begin, then To; Write
// and Close fail with ErrText if the text cannot be decoded. UTF-8 text passes unchanged.
type Writer struct {
	to      io.Writer
	reading Reading
	mode    mode
	tail    [utf8.UTFMax]byte // the beginning of a truncated UTF-8 character
	cut     int               // its length
	foreign *transform.Writer
	strict  strict
}

type mode uint8

const (
	ascii   mode = iota // only ASCII so far
	isUTF8              // the characters so far are UTF-8
	decoded             // by foreign
)

var bom = []byte("\xef\xbb\xbf")

// Begin decodes the beginning of a text, or all of it. A byte order mark of UTF-8 is dropped; it
// says nothing about what follows, since scripts print one in front of any text. The returned
// text may alias beginning.
func (w *Writer) Begin(r Reading, beginning []byte, whole bool) ([]byte, error) {
	*w = Writer{reading: r}
	text := bytes.TrimPrefix(beginning, bom)
	if r.obeyed == nil {
		part := text
		if !whole {
			part = Whole(text)
		}
		if utf8.Valid(part) {
			w.cut = copy(w.tail[:], text[len(part):])
			if r.other != nil && firstBeyondASCII(part) == len(part) {
				return part, nil // no character distinguishes the charsets yet
			}
			w.mode = isUTF8
			return text, nil
		}
		if r.other == nil {
			return nil, r.undecodable()
		}
	}
	var out bytes.Buffer
	w.To(&out)
	w.decode()
	_, err := w.foreign.Write(text)
	if err == nil && whole {
		err = w.foreign.Close()
	}
	return bytes.TrimPrefix(out.Bytes(), bom), err
}

// To sets the destination of what is written from now on.
func (w *Writer) To(to io.Writer) {
	w.to, w.strict.to = to, to
}

// decode starts decoding from the charset that is not UTF-8.
func (w *Writer) decode() {
	c := w.reading.obeyed
	if c == nil {
		c = w.reading.other
	}
	w.mode = decoded
	w.strict.reading = w.reading
	w.foreign = transform.NewWriter(&w.strict, c.decoding.NewDecoder())
}

// Write decodes a part of the text.
func (w *Writer) Write(p []byte) (int, error) {
	if w.mode == decoded {
		return w.foreign.Write(p)
	}
	if w.mode == isUTF8 {
		if err := w.check(p); err != nil {
			return 0, err
		}
		return w.to.Write(p)
	}
	return w.decide(p)
}

// decide handles the first characters that are not ASCII.
func (w *Writer) decide(p []byte) (int, error) {
	n := len(p)
	at := 0
	if w.cut == 0 {
		if at = firstBeyondASCII(p); at > 0 {
			if _, err := w.to.Write(p[:at]); err != nil || at == n {
				return at, err
			}
		}
	}
	rest := p[at:]
	if w.cut > 0 {
		rest = append(w.tail[:w.cut:w.cut], p...)
		w.cut = 0
	}
	part := Whole(rest)
	switch {
	case len(part) == 0:
		w.cut = copy(w.tail[:], rest)
		return n, nil
	case utf8.Valid(part):
		w.mode, w.cut = isUTF8, copy(w.tail[:], rest[len(part):])
	case w.reading.other == nil:
		return at, w.reading.undecodable()
	default:
		w.decode()
		_, err := w.foreign.Write(rest)
		return n, err
	}
	_, err := w.to.Write(rest)
	return n, err
}

// check checks that the rest is valid UTF-8.
func (w *Writer) check(p []byte) error {
	for w.cut > 0 && len(p) > 0 {
		w.tail[w.cut] = p[0]
		w.cut, p = w.cut+1, p[1:]
		if utf8.FullRune(w.tail[:w.cut]) {
			if !utf8.Valid(w.tail[:w.cut]) {
				return w.reading.undecodable()
			}
			w.cut = 0
		}
	}
	if w.cut > 0 {
		return nil
	}
	part := Whole(p)
	w.cut = copy(w.tail[:], p[len(part):])
	if !utf8.Valid(part) {
		return w.reading.undecodable()
	}
	return nil
}

// Close ends the text. It does not close the destination.
func (w *Writer) Close() error {
	switch {
	case w.mode == decoded:
		return w.foreign.Close()
	case w.cut == 0:
		return nil
	case w.mode == ascii && w.reading.other != nil:
		w.decode()
		if _, err := w.foreign.Write(w.tail[:w.cut]); err != nil {
			return err
		}
		return w.foreign.Close()
	}
	return w.reading.undecodable()
}

// firstBeyondASCII returns the index of the first byte that is not ASCII, or len(p).
func firstBeyondASCII(p []byte) int {
	const high = 0x8080808080808080
	word := binary.LittleEndian.Uint64
	i := 0
	for ; i+32 <= len(p); i += 32 {
		if q := p[i : i+32 : i+32]; (word(q)|word(q[8:])|word(q[16:])|word(q[24:]))&high != 0 {
			break
		}
	}
	for ; i < len(p); i++ {
		if p[i] >= utf8.RuneSelf {
			return i
		}
	}
	return len(p)
}

// strict refuses the replacement characters that decoders write for invalid bytes.
type strict struct {
	to      io.Writer
	reading Reading
}

var replacement = []byte("\uFFFD")

// Write implements io.Writer.
func (s *strict) Write(p []byte) (int, error) {
	if bytes.Contains(p, replacement) {
		return 0, s.reading.undecodable()
	}
	return s.to.Write(p)
}
