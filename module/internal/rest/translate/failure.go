package translate

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// Kind is why an answer could not be translated: a closed set, fit for a metric's label.
type Kind string

const (
	Syntax     Kind = "syntax"     // it is no JSON
	Incomplete Kind = "incomplete" // it ends too soon
	Missing    Kind = "missing"    // the declared value is not there, or of another kind
	Depth      Kind = "depth"      // nested too deeply
	Charset    Kind = "charset"    // its text cannot be decoded
	Coding     Kind = "coding"     // compressed in a way that is not known, or wrongly
	Bomb       Kind = "bomb"       // it grows beyond reason when it is decompressed
	Redirect   Kind = "redirect"   // it leads to an address that has no counterpart
	Cursor     Kind = "cursor"     // it does not lead on to the next page in a way that a client could follow
	Gone       Kind = "gone"       // the client has gone
)

// ErrNothing is for an answer that can be read, and says that there is no such item. It is no
// failure of the translation, and not to be counted as one.
var ErrNothing = errors.New("there is nothing in the place of the item")

// Failure is an answer that could not be translated.
type Failure struct {
	Kind Kind
	Err  error // for the log
}

func (f *Failure) Error() string {
	text := "the upstream's answer could not be translated: " + string(f.Kind)
	if f.Err != nil {
		text += ": " + f.Err.Error()
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Err }

// notJSON is what becomes of an answer that is no JSON where something is declared of it. A
// write has succeeded all the same, unless its answer is a page: of an error, or to sign in.
func notJSON(w *Writer, text []byte) *Failure {
	media := mediaOf(w.Header())
	f := &Failure{Syntax, fmt.Errorf("Content-Type %q, expected JSON as is declared, or a type that the resource passes", media)}
	if envelope.IsJSON(media) {
		f.Err = fmt.Errorf("Content-Type %q, and neither an object nor an array", media)
	}
	text = bytes.TrimLeft(text, whiteSpace)
	page := len(text) > 0 && (strings.HasSuffix(media, "xml") || strings.ContainsRune("<{[", rune(text[0])))
	if w.config.Answer.Writes() && !page {
		f.Kind = Missing
	}
	return f
}

// refusedPart is what becomes of a part of an answer that is translated. A write has succeeded all the same.
func refusedPart(w *Writer) *Failure {
	f := &Failure{Syntax, fmt.Errorf("status 206 with Content-Range %q, a part of an answer that is to be edited as a whole, and nobody asked for one", w.Header().Get("Content-Range"))}
	if w.config.Answer.Writes() {
		f.Kind = Missing
	}
	return f
}

var errBomb = &Failure{Kind: Bomb}

// kinds are the failures that errors of the editor and of the decoder stand for.
var kinds = map[error]Kind{
	charset.ErrText: Charset, splice.ErrSyntax: Syntax, splice.ErrIncomplete: Incomplete,
	splice.ErrRoot: Missing, splice.ErrLifted: Missing, splice.ErrOutside: Missing, splice.ErrWrapped: Missing, splice.ErrDepth: Depth,
}

// failureOf returns the failure that an error is, or stands for.
func failureOf(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	for target, kind := range kinds {
		if errors.Is(err, target) {
			return &Failure{kind, err}
		}
	}
	return &Failure{Gone, err}
}
