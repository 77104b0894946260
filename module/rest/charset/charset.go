package charset

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Charset is an encoding other than UTF-8. A nil *Charset is UTF-8.
type Charset struct {
	name     string // as configured, in lower case
	encoding encoding.Encoding
	decoding encoding.Encoding // the encoding, or a superset of it
	ascii    bool              // ASCII bytes are always ASCII characters, as in UTF-8
	latin1   bool
}

// Find returns an encoding by one of its names in the WHATWG's list or IANA's, in this order:
// `iso-8859-1` is windows-1252, as in browsers. The Charset of UTF-8 and ASCII is nil.
func Find(name string) (*Charset, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "utf-8", "utf8", "us-ascii", "ascii":
		return nil, nil
	}
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Replacement {
		e, err = ianaindex.IANA.Encoding(name)
	}
	if err != nil || e == nil || e == encoding.Replacement {
		return nil, fmt.Errorf("unknown charset '%s', expected a name such as iso-8859-1, windows-1251, shift_jis or gb18030", name)
	}
	c := &Charset{name: name, encoding: e, decoding: e}
	if e == simplifiedchinese.GBK {
		c.decoding = simplifiedchinese.GB18030 // as the WHATWG prescribes
	}
	canonical, _ := htmlindex.Name(e) // "" if only IANA lists it
	c.latin1 = canonical == "windows-1252"
	var ascii [0x7f - ' ']byte
	for i := range ascii {
		ascii[i] = ' ' + byte(i)
	}
	out, err := e.NewDecoder().Bytes(ascii[:])
	c.ascii = err == nil && string(out) == string(ascii[:]) && canonical != "iso-2022-jp" && e != simplifiedchinese.HZGB2312
	return c, nil
}

// Name returns the name by which the charset was found, "utf-8" for nil.
func (c *Charset) Name() string {
	if c == nil {
		return "utf-8"
	}
	return c.name
}

// Wide reports that ASCII is encoded with other bytes than in UTF-8, or that these bytes stand
// for other characters, too, as in UTF-16, EBCDIC and ISO-2022-JP.
func (c *Charset) Wide() bool { return c != nil && !c.ascii }

// IsMultibyte reports whether there are characters of several bytes, as in Shift_JIS, GBK and EUC-KR. A JSON string may then end
// elsewhere than in UTF-8: the last byte of a character may be a backslash, and PHP takes a quote behind a lone first byte for the
// last one.
func (c *Charset) IsMultibyte() bool {
	if c == nil {
		return false
	}
	for first := 0x81; first < 0xff; first++ {
		if out, ok := c.Decode(string([]byte{byte(first), 0xa1})); ok && utf8.RuneCountInString(out) == 1 {
			return true
		}
	}
	return false
}

// Encode converts a UTF-8 text to the charset. It reports false for a text with a character that
// the charset does not have.
func (c *Charset) Encode(text string) (string, bool) {
	if c == nil || c.ascii && isASCII(text) {
		return text, true
	}
	out, err := c.encoding.NewEncoder().String(text)
	return out, err == nil
}

// Decode decodes a complete text. Unlike a Reading it considers no other charset.
func (c *Charset) Decode(text string) (string, bool) {
	if c == nil {
		return text, utf8.ValidString(text)
	}
	out, err := c.decoding.NewDecoder().String(text)
	return out, err == nil && !strings.ContainsRune(out, utf8.RuneError)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
