package translate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
)

// sample is how much of a body is looked at to find the JSON in it; what comes later is taken for more of the same.
const sample = 32 << 10

func beginsContainer(c byte) bool { return c == '{' || c == '[' }

// notices bounds how many beginnings are tried if a script has printed something in front.
const notices = 8

var anything, _ = splice.Compile(splice.Config{}) // an empty plan compiles

// findJSON returns where JSON begins in the beginning of a text, or in all of it.
func findJSON(text []byte, sure, whole bool) (at int, ok bool) {
	at = len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
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
func followsText(before []byte) bool { return len(bytes.TrimLeft(before, " \t\r\n")) > 0 }

// beginsAsJSON reports whether a text begins with an object or array, whatever stands behind
// it. One that is not whole may go on.
func beginsAsJSON(text []byte, whole bool) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || !beginsContainer(text[0]) {
		return false
	}
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(text)).Decode(&first)
	return err == nil || !whole && errors.Is(err, io.ErrUnexpectedEOF)
}

// mayBeJSON reports whether a text can be the beginning of JSON, or is all of it.
func mayBeJSON(text []byte, whole bool) bool {
	e := anything.New(io.Discard)
	defer e.Release()
	_, err := e.Write(text)
	if err == nil && whole {
		err = e.Close()
	}
	return err == nil
}
