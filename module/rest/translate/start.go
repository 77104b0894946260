package translate

import (
	"bytes"
	"io"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/gatehouse/gatehouse/module/rest/splice"
)

// start is the beginning of a body, kept until it is known where the JSON begins and
// how it is encoded.
type start struct {
	text    []byte
	charset string // as the label says it
}

// sample is how much is looked at; what comes later is taken for more of the same.
const sample = 32 << 10

var starts = sync.Pool{New: func() any { return new([sample]byte) }}

func newStart(charset string) *start {
	buffer, ok := starts.Get().(*[sample]byte)
	if !ok {
		buffer = new([sample]byte)
	}
	return &start{text: buffer[:0], charset: charset}
}

func (s *start) release() {
	if cap(s.text) == sample {
		starts.Put((*[sample]byte)(s.text[:sample]))
	}
	s.text = nil
}

// add reports that there is enough. A body labelled UTF-8 that begins like JSON needs no
// more than its first byte.
func (s *start) add(p []byte) bool {
	if len(s.text)+len(p) > sample {
		s.text = append(append(make([]byte, 0, len(s.text)+len(p)), s.text...), p...)
		return true
	}
	s.text = append(s.text, p...)
	if s.charset != "utf-8" && s.charset != "utf8" {
		return false
	}
	text := bytes.TrimLeft(s.text, " \t\r\n")
	return len(text) > 0 && begins(text[0])
}

func begins(c byte) bool { return c == '{' || c == '[' }

var bom = []byte("\xef\xbb\xbf")

// notices bounds how many beginnings are tried when something is printed in front.
const notices = 8

var anything, _ = splice.Compile(splice.Config{}) // an empty plan compiles

// find says where the JSON begins and which charset it is in, "" for UTF-8.
func (s *start) find(sure, whole bool) (at int, charset string, ok bool) {
	text := s.text
	if bytes.HasPrefix(text, bom) {
		at, text = len(bom), text[len(bom):]
	}
	charset = s.encoding(text)
	space := len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
	rest := text[space:]
	if len(rest) == 0 {
		return at, charset, false
	}
	if begins(rest[0]) {
		return at + space, charset, sure || parses(rest, charset, whole)
	}
	for range notices {
		next := bytes.IndexAny(rest, "{[")
		if next < 0 {
			break
		}
		if rest = rest[next:]; parses(rest, charset, whole) {
			return at + len(text) - len(rest), charset, true
		}
		rest = rest[1:]
	}
	return at, charset, false
}

// parses reports whether a text could be the beginning of JSON, or all of it.
func parses(text []byte, charset string, whole bool) bool {
	e := anything.New(io.Discard)
	defer e.Release()
	r := newRecoder(charset, func(p []byte) error { _, err := e.Write(p); return err })
	var err error
	if r == nil {
		_, err = e.Write(text)
	} else {
		err = r.write(text)
	}
	if err == nil && whole {
		if r != nil {
			err = r.close()
		}
		if err == nil {
			err = e.Close()
		}
	}
	return err == nil
}

// encoding believes the label if it is one of the GB encodings or Latin-1, and the bytes
// if it is none: old scripts send GB without saying so.
func (s *start) encoding(text []byte) string {
	switch s.charset {
	case "gbk", "gb2312", "gb18030", "x-gbk", "cp936":
		return "gb18030"
	case "iso-8859-1", "latin1", "windows-1252":
		if utf8.Valid(whole(text)) {
			return ""
		}
		return "windows-1252"
	case "":
		if utf8.Valid(whole(text)) {
			return ""
		}
		out, err := simplifiedchinese.GB18030.NewDecoder().Bytes(text)
		if err == nil && !bytes.Contains(bytes.TrimSuffix(out, []byte("\uFFFD")), []byte("\uFFFD")) {
			return "gb18030"
		}
	}
	return ""
}

// whole drops a character that the end of the sample went through.
func whole(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if utf8.RuneStart(text[len(text)-n]) {
			if !utf8.FullRune(text[len(text)-n:]) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}
