package translate

import (
	"bytes"
	"io"
	"sync"

	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/splice"
)

// start is the beginning of a body, kept until it is known where the JSON begins and
// how it is encoded.
type start struct {
	text  []byte
	label string // of the charset
}

// sample is how much is looked at; what comes later is taken for more of the same.
const sample = 32 << 10

var starts = sync.Pool{New: func() any { return new([sample]byte) }}

func newStart(label string) *start {
	buffer, ok := starts.Get().(*[sample]byte)
	if !ok {
		buffer = new([sample]byte)
	}
	return &start{text: buffer[:0], label: label}
}

func (s *start) release() {
	if cap(s.text) == sample {
		starts.Put((*[sample]byte)(s.text[:sample]))
	}
	s.text = nil
}

// add reports that there is enough.
func (s *start) add(p []byte) bool {
	if len(s.text)+len(p) > sample {
		s.text = append(append(make([]byte, 0, len(s.text)+len(p)), s.text...), p...)
		return true
	}
	s.text = append(s.text, p...)
	return false
}

func begins(c byte) bool { return c == '{' || c == '[' }

var bom = []byte("\xef\xbb\xbf")

// notices bounds how many beginnings are tried when something is printed in front.
const notices = 8

var anything, _ = splice.Compile(splice.Config{}) // an empty plan compiles

// find says where the JSON begins and which charset it is in.
func (s *start) find(sure, whole bool) (at int, in charset.Charset, ok bool) {
	text := s.text
	if bytes.HasPrefix(text, bom) {
		at, text = len(bom), text[len(bom):]
	}
	in = charset.Of(s.label, text, !whole)
	space := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	rest := text[space:]
	if len(rest) == 0 {
		return at, in, false
	}
	if begins(rest[0]) {
		return at + space, in, sure || parses(rest, in, whole)
	}
	for range notices {
		next := bytes.IndexAny(rest, "{[")
		if next < 0 {
			break
		}
		if rest = rest[next:]; parses(rest, in, whole) {
			return at + len(text) - len(rest), in, true
		}
		rest = rest[1:]
	}
	return at, in, false
}

// behindText reports whether more than white space stands in front of JSON.
func behindText(before []byte) bool {
	return len(bytes.TrimLeft(bytes.TrimPrefix(before, bom), " \t\r\n")) > 0
}

// parses reports whether a text could be the beginning of JSON, or all of it.
func parses(text []byte, in charset.Charset, whole bool) bool {
	e := anything.New(io.Discard)
	defer e.Release()
	to := in.Writer(e)
	_, err := to.Write(text)
	if err == nil && whole {
		if err = to.Close(); err == nil {
			err = e.Close()
		}
	}
	return err == nil
}
