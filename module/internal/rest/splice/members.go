package splice

import (
	"bytes"
	"fmt"
)

// held is input whose fate is not decided yet: a comma, white space and a name, or a scalar.
type held struct {
	on      bool
	named   bool   // with a name
	from    int    // where it begins in the chunk
	token   int    // where the name or scalar begins, counted from there; -1: not yet
	earlier []byte // what of it was in earlier chunks
}

// beginName begins to hold what leads to a name.
func (h *held) beginName(i int) { h.on, h.named, h.from, h.token = true, true, i, -1 }

// rawToken returns the held name or scalar as written; it ends right before i in the chunk.
func (h *held) rawToken(chunk []byte, i int) []byte {
	if len(h.earlier) == 0 {
		return chunk[h.from+h.token : i]
	}
	h.earlier = append(h.earlier, chunk[h.from:i]...)
	h.from = i
	return h.earlier[h.token:]
}

// decoded returns a decoded string, or another scalar as written. It is valid until the next call.
func (e *Editor) decoded(raw []byte) []byte {
	if raw[0] != '"' {
		return raw
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	e.text = unquote(e.text[:0], raw)
	return e.text
}

// dropComma drops the held comma, because all members before it were dropped.
func (e *Editor) dropComma() {
	switch {
	case len(e.held.earlier) > 0:
		if e.held.earlier[0] == ',' {
			e.held.earlier = append(e.held.earlier[:0], e.held.earlier[1:]...)
			e.held.token--
		}
	case e.out.chunk[e.held.from] == ',':
		e.out.pass(e.held.from)
		e.held.from++
		e.out.from++
		e.held.token--
	}
}

// release passes on what is held up to i, with instead (if not nil) in place of its token.
func (e *Editor) release(instead []byte, i int) {
	switch {
	case e.out.muted:
	case len(e.held.earlier) > 0 && instead == nil:
		e.out.emit(e.held.earlier)
		e.out.emit(e.out.chunk[e.held.from:i])
		e.out.from = i
	case len(e.held.earlier) > 0:
		e.out.emit(e.held.earlier[:e.held.token])
		e.out.emit(instead)
		e.out.from = i
	case instead != nil:
		e.out.pass(e.held.from + e.held.token)
		e.out.emit(instead)
		e.out.from = i
	}
	e.held.earlier, e.held.on = e.held.earlier[:0], false
}

// replacement returns what replaces the held scalar that ends right before i, nil if nothing does.
func (e *Editor) replacement(i int) []byte {
	if v := e.at.current.values.get(e.decoded(e.held.rawToken(e.out.chunk, i))); v != nil {
		return *v
	}
	return nil
}

// endScalar handles the scalar that ends right before i.
func (e *Editor) endScalar(i int) state {
	if e.captured.on {
		e.captureScalar(i)
	}
	if e.at.current.copied {
		var instead []byte
		if e.held.on {
			instead = e.replacement(i)
		}
		e.at.current.copied = false
		e.endCopy(instead, i)
	}
	if e.held.on {
		e.release(e.replacement(i), i)
	}
	if e.at.current.after != unchanged {
		e.out.switchTo(e.at.current.after, i)
		e.at.current.after = unchanged
	}
	return e.scanner.afterValue()
}

// decideMember decides what happens to the member whose name is held and ends right before i. A nil name is longer
// than any that matters.
func (e *Editor) decideMember(name []byte, i int) error {
	f := e.at.top()
	var m *member
	if name != nil {
		if f.doc != nil {
			e.at.next.doc = e.captured.forget(f.doc.steps.get(name))
			if n := e.at.next.doc; n != nil && n.leadsToRoot && (e.at.rootFound || e.at.rootWrong) {
				return errTwice
			}
		}
		if f.id != nil {
			e.at.next.id = e.captured.forget(f.id.steps.get(name))
		}
		if f.resource {
			m = e.plan.members.get(name)
		}
	}
	edited := f.resource
	if e.plan.places {
		edited, m = e.decideInside(f, m)
	}
	if f.seeks && !e.seeking.settled {
		if err := e.seekName(f, name); err != nil {
			return err
		}
	}
	if m == nil && e.isOutside(f, name) {
		return fmt.Errorf("%w: %s", ErrOutside, name)
	}
	switch {
	case m != nil && m.drop:
		if len(e.held.earlier) == 0 {
			e.out.pass(e.held.from)
		}
		e.out.muted, e.at.next.after = true, unmute
		e.release(nil, i)
	case edited:
		if !f.any {
			e.dropComma()
			f.any = true
		}
		var instead []byte
		if m != nil {
			instead = m.name
			if !m.values.empty() {
				e.at.next.values = &m.values
			}
		}
		e.release(instead, i)
	default:
		e.release(nil, i)
	}
	return nil
}

// isOutside reports whether a member of an object that is not edited has a guarded name, and is passed on.
func (e *Editor) isOutside(f *frame, name []byte) bool {
	if !f.guarded || f.resource || e.out.muted || name == nil || e.plan.guard.get(name) == nil {
		return false
	}
	n := e.at.next.id
	return n == nil || n.lifted == nil
}

var droppedMember = &member{drop: true}

// decideInside returns whether members of the present object are edited, and the edit of this one, which may be
// inside other members of the resource object.
func (e *Editor) decideInside(f *frame, m *member) (bool, *member) {
	f.hidden = m != nil && m.drop
	if f.id == nil || !f.id.drops {
		return f.resource, m
	}
	if m == nil && !e.out.muted && e.at.next.id != nil && e.at.next.id.dropped {
		m = droppedMember
	}
	return true, m
}
