package charset

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Reading says how a text is read.
type Reading struct {
	// obeyed is the charset if it is certain; nil: the text is UTF-8 if its bytes are valid
	// UTF-8.
	obeyed *Charset
	// other is the charset of the text if it is not UTF-8; nil: none.
	other *Charset
}

// Read determines how to read a text that is labelled with a charset ("" for none), where the
// configuration names another one (nil for none).
//
// A label is obeyed, except for two kinds that servers add on their own: text labelled UTF-8 or
// ASCII is in the configured charset if it is not valid UTF-8, and text labelled Latin-1 is
// UTF-8 if it is valid UTF-8. An unknown label is ignored. A charset that encodes ASCII
// differently cannot be detected by trying UTF-8 first: if the configuration names such a
// charset, it is obeyed unless the label says UTF-8.
func Read(label string, named *Charset) Reading {
	if label == "" {
		return unlabelled(named)
	}
	c, err := Find(label)
	switch {
	case err != nil:
		return unlabelled(named)
	case c == nil && named.Wide():
		return Reading{}
	case c == nil:
		return Reading{other: named}
	case c.latin1:
		return Reading{other: c}
	}
	return Reading{obeyed: c}
}

func unlabelled(named *Charset) Reading {
	if named.Wide() {
		return Reading{obeyed: named}
	}
	return Reading{other: named}
}

// ErrText is the error for text that cannot be decoded.
var ErrText = errors.New("the text cannot be decoded")

// undecodable returns an error that says what was tried.
func (r Reading) undecodable() error {
	switch {
	case r.obeyed != nil:
		return fmt.Errorf("%w: it is not in %s, as it is labelled or configured", ErrText, r.obeyed.name)
	case r.other != nil:
		return fmt.Errorf("%w: it is neither in UTF-8 nor in %s", ErrText, r.other.name)
	}
	return fmt.Errorf("%w: it is not in UTF-8, and neither its label nor `charset` names another encoding", ErrText)
}

// Text decodes a text that was already read. If cut is set, a truncated character at its end is
// dropped. It reports false for a text that cannot be decoded.
func (r Reading) Text(text []byte, cut bool) ([]byte, bool) {
	var rest Writer
	out, err := rest.Begin(r, text, !cut)
	if err == nil && !cut {
		err = rest.Close()
	}
	if cut {
		out = Whole(out)
	}
	return out, err == nil
}

// Whole drops a truncated character at the end of a UTF-8 text.
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

// Instead returns how to read a text that turned out not to be UTF-8; ok reports whether there
// is a way.
func (r Reading) Instead() (other Reading, ok bool) {
	return Reading{obeyed: r.other}, r.obeyed == nil && r.other != nil
}
