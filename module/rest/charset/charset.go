package charset

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"
)

// Charset is one that is known.
type Charset uint8

const (
	UTF8    Charset = iota
	GB18030         // and what it contains: GBK, GB2312
	Latin1          // as browsers read it, windows-1252
	Unknown
)

// Of says what a text is in, by its label ("" for none) and its bytes; cut says that the
// text may go on. Old scripts send GB and say UTF-8 or nothing: what is no UTF-8 and could
// be GB is taken for that. A label of GB is believed, since a few characters of GB are
// UTF-8 by chance; one of Latin-1 is what servers add by themselves, and loses to UTF-8.
func Of(label string, text []byte, cut bool) Charset {
	switch strings.ToLower(label) {
	case "gbk", "gb2312", "gb18030", "x-gbk", "cp936":
		return GB18030
	case "iso-8859-1", "latin1", "windows-1252":
		if _, ok := UTF8.Decode(text, cut); ok {
			return UTF8
		}
		return Latin1
	case "", "utf-8", "utf8", "us-ascii":
		for _, c := range []Charset{UTF8, GB18030} {
			if _, ok := c.Decode(text, cut); ok {
				return c
			}
		}
	}
	return Unknown
}

// Whole drops a character that the end of a text in UTF-8 goes through.
func Whole(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// Decode makes UTF-8 of a text, without a character that the cut went through. It reports
// false for what is in another charset.
func (c Charset) Decode(text []byte, cut bool) ([]byte, bool) {
	from := c.encoding()
	if from == nil {
		if cut {
			text = Whole(text)
		}
		return text, c == UTF8 && utf8.Valid(text)
	}
	out := make([]byte, 3*len(text)) // what no byte of any is more than
	n, _, err := from.NewDecoder().Transform(out, text, !cut)
	if err != nil && !(cut && errors.Is(err, transform.ErrShortSrc)) {
		return nil, false
	}
	return out[:n], c == Latin1 || !bytes.Contains(out[:n], []byte("\uFFFD")) // five bytes are nothing in windows-1252
}

// Writer makes UTF-8 of a text as it comes. What cannot be decoded passes as it is. Close
// ends the text, and leaves to as it is.
func (c Charset) Writer(to io.Writer) io.WriteCloser {
	if from := c.encoding(); from != nil {
		return transform.NewWriter(to, from.NewDecoder())
	}
	return plain{to}
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

func (c Charset) encoding() encoding.Encoding {
	switch c {
	case GB18030:
		return simplifiedchinese.GB18030
	case Latin1:
		return charmap.Windows1252
	}
	return nil
}
