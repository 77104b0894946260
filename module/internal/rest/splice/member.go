package splice

import "bytes"

// name reads the name that ends right before i and is held.
func (e *Editor) name(i int) error {
	raw := e.heldToken(i)
	return e.member(e.decoded(raw), true, i)
}

// heldToken is the held name or scalar as it stands in the text.
func (e *Editor) heldToken(i int) []byte {
	if len(e.hold) == 0 {
		return e.p[e.held+e.token : i]
	}
	e.hold = append(e.hold, e.p[e.held:i]...)
	e.held = i
	return e.hold[e.token:]
}

// decoded is the text of a string, or the bytes of another scalar. It is valid until
// the next call.
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

// member decides about the member whose name was held. A name that is not known is
// longer than any that is looked for.
func (e *Editor) member(name []byte, known bool, i int) error {
	f := e.top()
	var m *member
	if known {
		if f.doc != nil {
			e.aim.doc = e.forget(f.doc.steps.get(name))
			if n := e.aim.doc; n != nil && n.way && (e.found || e.wrong) {
				return errTwice
			}
		}
		if f.id != nil {
			e.aim.id = e.forget(f.id.steps.get(name))
		}
		if f.resource {
			m = e.plan.members.get(name)
		}
	}
	edited := f.resource
	if e.plan.places {
		edited, m = e.inside(f, m)
	}
	switch {
	case m != nil && m.drop:
		if len(e.hold) == 0 {
			e.pass(e.held)
		}
		e.muted, e.aim.after = true, unmute
		e.release(nil, i)
	case edited:
		if !f.any {
			e.withoutComma()
			f.any = true
		}
		var instead []byte
		if m != nil {
			instead = m.name
			if !m.values.empty() {
				e.aim.values = &m.values
			}
		}
		e.release(instead, i)
	default:
		e.release(nil, i)
	}
	return nil
}

// forget drops what was captured in an earlier member of the same name.
func (e *Editor) forget(n *node) *node {
	if n != nil {
		for _, slot := range n.below {
			e.slots[slot] = Scalar{}
		}
	}
	return n
}

// withoutComma takes the comma from what is held: all in front was dropped.
func (e *Editor) withoutComma() {
	switch {
	case len(e.hold) > 0:
		if e.hold[0] == ',' {
			e.hold = append(e.hold[:0], e.hold[1:]...)
			e.token--
		}
	case e.p[e.held] == ',':
		e.pass(e.held)
		e.held++
		e.from++
		e.token--
	}
}

// release passes on what is held up to i, or something else instead of its token.
func (e *Editor) release(instead []byte, i int) {
	switch {
	case e.muted:
	case len(e.hold) > 0 && instead == nil:
		e.emit(e.hold)
		e.emit(e.p[e.held:i])
		e.from = i
	case len(e.hold) > 0:
		e.emit(e.hold[:e.token])
		e.emit(instead)
		e.from = i
	case instead != nil:
		e.pass(e.held + e.token)
		e.emit(instead)
		e.from = i
	}
	e.hold, e.holding = e.hold[:0], false
}

// finish ends the scalar that ends right before i.
func (e *Editor) finish(i int) state {
	if e.watching {
		raw := e.p[e.watched:i]
		if len(e.tok) > 0 {
			e.tok = append(e.tok, raw...)
			raw = e.tok
		}
		e.captureText(raw)
		e.watching, e.tok = false, e.tok[:0]
	}
	if e.present.copied {
		e.endCopy(i)
	}
	if e.holding {
		var instead []byte
		if v := e.present.values.get(e.decoded(e.heldToken(i))); v != nil {
			instead = *v
		}
		e.release(instead, i)
	}
	if e.present.after != nothing {
		e.over(e.present.after, i)
		e.present.after = nothing
	}
	return e.next()
}

func (e *Editor) captureText(raw []byte) {
	s := Scalar{Long: true}
	if len(raw) <= e.rawScalar() {
		kind := kindOf(raw[0])
		if kind == String {
			e.text = unquote(e.text[:0], raw[1:len(raw)-1])
			raw = e.text
		}
		if len(raw) <= e.plan.maxScalar {
			s = Scalar{Kind: kind, Text: string(raw)}
		}
	}
	e.capture(s)
}

// capture notes the present value in every place that asks for it.
func (e *Editor) capture(s Scalar) {
	for _, n := range [...]*node{e.present.doc, e.present.id} {
		if n != nil {
			for _, slot := range n.slots {
				e.slots[slot] = s
			}
		}
	}
}
