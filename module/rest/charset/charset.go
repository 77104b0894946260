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
	name     string // as it was asked for, in lower case
	encoding encoding.Encoding
	decoding encoding.Encoding // it, or one that has more characters
	ascii    bool              // the bytes of ASCII are ASCII, as in UTF-8
	latin1   bool
}

// Find looks up an encoding by one of its names, as the WHATWG and then IANA have them:
// `iso-8859-1` is windows-1252, as in browsers. The Charset of UTF-8, and of ASCII, is nil.
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
		c.decoding = simplifiedchinese.GB18030 // as the WHATWG has it
	}
	canonical, _ := htmlindex.Name(e) // "" for those that IANA alone has
	c.latin1 = canonical == "windows-1252"
	var ascii [0x7f - ' ']byte
	for i := range ascii {
		ascii[i] = ' ' + byte(i)
	}
	out, err := e.NewDecoder().Bytes(ascii[:])
	c.ascii = err == nil && string(out) == string(ascii[:]) && canonical != "iso-2022-jp" && e != simplifiedchinese.HZGB2312
	return c, nil
}

// Name is what the charset was asked for by, "utf-8" for nil.
func (c *Charset) Name() string {
	if c == nil {
		return "utf-8"
	}
	return c.name
}

// Wide reports that ASCII is written with other bytes than in UTF-8, or that these stand for
// other characters too, as in UTF-16, EBCDIC and ISO-2022-JP.
func (c *Charset) Wide() bool { return c != nil && !c.ascii }

// Encode writes a text in UTF-8 in the charset. It reports false for a text with a character
// that the charset does not have.
func (c *Charset) Encode(text string) (string, bool) {
	if c == nil || c.ascii && isASCII(text) {
		return text, true
	}
	out, err := c.encoding.NewEncoder().String(text)
	return out, err == nil
}

// Decode reads a whole text in the charset. Unlike a Reading it takes no other into account.
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
