package translate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/charset"
)

// sample is how much of a body is looked at to find the JSON in it; what comes later is taken for more of the same.
const sample = 32 << 10

// whiteSpace is that of JSON.
const whiteSpace = " \t\r\n"

func beginsContainer(c byte) bool { return c == '{' || c == '[' }

// notices bounds how many beginnings are tried if a script has printed something in front.
const notices = 8

var anything, _ = splice.Compile(splice.Config{}) // an empty plan compiles

// findJSON returns where JSON begins in the beginning of a text, or in all of it.
func findJSON(text []byte, sure, whole bool) (at int, ok bool) {
	at = len(text) - len(bytes.TrimLeft(text, whiteSpace))
	rest := text[at:]
	if len(rest) == 0 {
		return 0, false
	}
	if beginsContainer(rest[0]) {
		return at, sure || mayBeJSON(rest, whole)
	}
	for range notices {
		next := bytes.IndexAny(rest, "{[")
		if next < 0 {
			break
		}
		if rest = rest[next:]; mayBeJSON(rest, whole) {
			return len(text) - len(rest), true
		}
		rest = rest[1:]
	}
	return 0, false
}

// followsText reports whether more than white space precedes the JSON.
func followsText(before []byte) bool { return len(bytes.TrimLeft(before, whiteSpace)) > 0 }

// beginsAsJSON reports whether a text begins with an object or array, whatever stands behind
// it. One that is not whole may go on.
func beginsAsJSON(text []byte, whole bool) bool {
	_, err := behindFirst(text)
	return err == nil || !whole && errors.Is(err, io.ErrUnexpectedEOF)
}

// isSequence reports whether a text begins with an object or array behind which there is another.
func isSequence(text []byte) bool {
	rest, err := behindFirst(text)
	return err == nil && len(rest) > 0 && rest[0] == bytes.TrimLeft(text, whiteSpace)[0]
}

var errNoContainer = errors.New("no object or array")

// behindFirst returns what is behind the object or array that a text begins with.
func behindFirst(text []byte) (rest []byte, err error) {
	text = bytes.TrimLeft(text, whiteSpace)
	if len(text) == 0 || !beginsContainer(text[0]) {
		return nil, errNoContainer
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var first json.RawMessage
	if err = d.Decode(&first); err != nil {
		return nil, err
	}
	return bytes.TrimLeft(text[d.InputOffset():], whiteSpace), nil
}

// notNumbers are what JavaScript's numbers have besides JSON's. Python's json writes them.
var notNumbers = []string{"-Infinity", "Infinity", "NaN"}

// isNearlyJSON reports whether a text is JSON but for its depth or numbers such as NaN, or begins with a whole object or array
// and goes on with another. That is no page of an error, and many clients can read it.
func isNearlyJSON(text []byte, whole bool) bool {
	if bytes.Contains(text, []byte("NaN")) || bytes.Contains(text, []byte("Inf")) {
		text = replaceNotNumbers(text)
	}
	if !whole {
		text = bytes.TrimRight(text, "-NaInfity") // of which one may be cut
	}
	err := checkJSON(text, whole)
	return err == nil || errors.Is(err, splice.ErrDepth) || isSequence(text)
}

// replaceNotNumbers puts 0 in place of notNumbers outside strings.
func replaceNotNumbers(text []byte) []byte {
	replaced := make([]byte, 0, len(text))
	inString, escaped := false, false
	for i := 0; i < len(text); i++ {
		name := ""
		if !inString {
			at := slices.IndexFunc(notNumbers, func(n string) bool { return bytes.HasPrefix(text[i:], []byte(n)) })
			if at >= 0 {
				name = notNumbers[at]
			}
		}
		if name != "" {
			replaced = append(replaced, '0')
			i += len(name) - 1
			continue
		}
		c := text[i]
		inString, escaped = inString != (c == '"' && !escaped), inString && c == '\\' && !escaped
		replaced = append(replaced, c)
	}
	return replaced
}

// mayBeJSON reports whether a text can be the beginning of JSON, or is all of it.
func mayBeJSON(text []byte, whole bool) bool { return checkJSON(text, whole) == nil }

// checkJSON returns why it cannot.
func checkJSON(text []byte, whole bool) error {
	e := anything.New(io.Discard)
	defer e.Release()
	_, err := e.Write(text)
	if err == nil && whole {
		err = e.Close()
	}
	return err
}

// maxWord is the most bytes that a word has.
const maxWord = 32

// unspaced are scripts that have no spaces between words: a whole sentence looks like one.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan}

// isWord reports whether a text is nothing, blanks or one word, as APIs say that a write succeeded: an error has more of them.
// A text that may be in a script without spaces is no word, nor one in another charset of which little is ASCII.
func isWord(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) > maxWord || bytes.ContainsFunc(text, unicode.IsSpace) {
		return false
	}
	if utf8.Valid(text) {
		return !bytes.ContainsFunc(text, func(c rune) bool { return unicode.In(c, unspaced...) })
	}
	ascii := 0
	for _, c := range text {
		if c < utf8.RuneSelf {
			ascii++
		}
	}
	return 2*ascii >= len(text)
}

// holdLook is how much of an object is kept to find out whether it is a list. Of a longer
// one whose total has not come by then it is assumed that it will. Where a total did come,
// no more than hold is kept.
const holdLook = 1 << 20

// looking is an object of which it is not known whether it is a list: its text is kept, and
// read beside that.
type looking struct {
	kept   []byte // from the first byte of the answer, as it came
	at     int    // where the JSON begins when that is decoded
	editor *splice.Editor
	err    error // why it is no JSON after all
}

func (b *body) startLooking(raw, text []byte, at int, whole bool) error {
	e := b.answer.LookPlan().New(io.Discard)
	b.look = &looking{kept: append([]byte(nil), raw...), at: at, editor: e}
	b.text.To(e)
	_, b.look.err = e.Write(text[at:])
	if whole {
		return nil // close decides
	}
	return b.decideList(false)
}

// writeLooking takes bytes of an object of which it is not known yet whether it is a list.
func (b *body) writeLooking(p []byte) error {
	l := b.look
	l.kept = append(l.kept, p...)
	if l.err == nil {
		_, l.err = b.text.Write(p)
	}
	return b.decideList(false)
}

// decideList goes on as soon as it is known whether the object is a list.
func (b *body) decideList(whole bool) error {
	l := b.look
	if whole && l.err == nil {
		if l.err = b.text.Close(); l.err == nil {
			l.err = l.editor.Close()
		}
	}
	if !whole && l.err == nil && (len(l.kept) <= hold || len(l.kept) <= holdLook && !b.answer.KnowsIfPage(l.editor)) {
		return nil
	}
	if errors.Is(l.err, charset.ErrText) {
		return l.err
	}
	text, err := b.text.Begin(b.in, l.kept, whole)
	if err != nil {
		return err
	}
	// A page with something behind it is not passed: it would be no page for the client.
	page := (l.err == nil || beginsAsJSON(text[l.at:], true)) && b.answer.MakeObjectPage(l.editor, whole)
	kept := l.kept
	b.look = nil
	l.editor.Release()
	if !page && b.answer.Plan == nil {
		return b.passRaw(kept)
	}
	return b.startEditing(text[l.at:])
}
