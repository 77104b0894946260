package translate

import (
	"io"

	"github.com/gatehouse/gatehouse/module/rest/charset"
	"github.com/gatehouse/gatehouse/module/rest/splice"
)

// holdLook is how much of an object is kept to find out whether it is a list. Of a longer
// one whose total has not come by then it is assumed that it will. Where a total did come,
// no more than hold is kept.
const holdLook = 1 << 20

// looking is an object of which it is not known whether it is a list: its text is kept, and
// read beside that.
type looking struct {
	kept   []byte // from the first byte of the answer
	at     int    // where the JSON begins
	in     charset.Charset
	editor *splice.Editor
	to     io.WriteCloser // leads to the editor
	broken bool           // it is no JSON after all
}

func (b *body) beginLooking(text []byte, at int, in charset.Charset, whole bool) error {
	e := b.answer.Look().New(io.Discard)
	b.look = &looking{kept: append([]byte(nil), text...), at: at, in: in, editor: e, to: in.Writer(e)}
	b.look.read(text[at:])
	if whole {
		return nil // close decides
	}
	return b.decide(false)
}

func (l *looking) read(p []byte) {
	if l.broken {
		return
	}
	_, err := l.to.Write(p)
	l.broken = err != nil
}

// looked takes what follows.
func (b *body) looked(p []byte) error {
	l := b.look
	l.kept = append(l.kept, p...)
	l.read(p)
	return b.decide(false)
}

// decide goes on as soon as it is known what the object is.
func (b *body) decide(whole bool) error {
	l := b.look
	if whole && !l.broken {
		if err := l.to.Close(); err != nil || l.editor.Close() != nil {
			l.broken = true
		}
	}
	if !whole && !l.broken && (len(l.kept) <= hold || len(l.kept) <= holdLook && !b.answer.Known(l.editor)) {
		return nil
	}
	page := !l.broken && b.answer.AsObject(l.editor, whole)
	b.look = nil
	l.editor.Release()
	if !page && b.answer.Plan == nil {
		return b.passRaw(l.kept)
	}
	return b.edit(l.kept[l.at:], l.in)
}
