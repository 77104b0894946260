package splice

// heeds reports whether the elements or names of the container matter.
func (f *frame) heeds() bool {
	return f.list || f.resource || f.doc != nil && !f.doc.steps.empty() || f.id != nil && !f.id.steps.empty()
}

func (e *Editor) top() *frame {
	if n := len(e.frames); n > 0 {
		return &e.frames[n-1]
	}
	return nil
}

// begin decides about the value that begins with c at i, in a container that matters.
func (e *Editor) begin(c byte, i int) error {
	a := e.aim
	e.aim = aim{}
	if f := e.top(); f != nil {
		if f.array {
			a = f.element()
		}
		if f.list {
			e.listed(f, i, &a)
		}
		f.index++
	}
	if a.doc != nil && a.doc.root {
		e.rooted(c, i, &a)
	}
	if e.plan.places && a.id != nil && a.id.lifted != nil {
		a = e.lift(a.id.lifted, i, a)
	}
	e.present = a
	if a.captured() {
		if c == '{' || c == '[' {
			e.entry, e.entryDepth = a, e.depth+1 // captured when it is known whether it is empty
		} else {
			e.watching, e.watched = true, i
		}
	}
	if a.values != nil && c != '{' && c != '[' {
		e.holding, e.named, e.held, e.token = true, false, i, 0
	}
	return nil
}

func (a *aim) captured() bool {
	return a.doc != nil && len(a.doc.slots) > 0 || a.id != nil && len(a.id.slots) > 0
}

// element is the aim of the next element of an array.
func (f *frame) element() (a aim) {
	if f.doc != nil {
		a.doc = f.doc.steps.at(f.index)
	}
	if f.id != nil {
		a.id = f.id.steps.at(f.index)
	}
	return a
}

func (e *Editor) keeps(index int64) bool { return index >= e.skip && index < e.last }

// listed decides about an element of the list.
func (e *Editor) listed(f *frame, i int, a *aim) {
	e.seen++
	if !e.keeps(f.index) {
		return
	}
	if !f.array {
		if f.any {
			e.emit(comma)
		}
		e.muted, e.from = false, i
	}
	f.any, a.resource = true, e.plan.edits
}

var (
	comma    = []byte(",")
	opening  = []byte("[")
	closing  = []byte("]")
	emptyset = []byte("[]")
)

// rooted begins to pass on.
func (e *Editor) rooted(c byte, i int, a *aim) {
	p := e.plan
	right := !p.edits || p.any || c == '{'
	if p.list {
		right = c == '[' || c == '{' || c == 'n'
	}
	if !right {
		e.wrong, e.muted = true, true
		return
	}
	e.found = true
	if e.muted {
		e.muted, e.from, a.after = false, i, mute
	}
	switch {
	case p.list && c == 'n':
		e.pass(i)
		e.emit(emptyset)
		e.muted, a.after = true, nothing
	case p.list:
		a.list = true
	default:
		a.resource = p.edits && c == '{'
	}
}

// entered begins a container, right behind its bracket.
func (e *Editor) entered(i int) {
	a := e.present
	e.present = aim{}
	f := frame{depth: e.depth, doc: a.doc, id: a.id, array: e.arrays[e.depth-1], list: a.list, copied: a.copied, after: a.after}
	if f.resource = a.resource && !f.array; f.resource {
		e.slots[e.plan.id] = Scalar{}
		f.id = &e.plan.resource
	}
	if f.list && !f.array {
		e.pass(i - 1)
		e.emit(opening)
		e.muted = true
	} else if f.list && !e.keeps(0) {
		e.pass(i)
		e.muted = true
	}
	if e.heed = f.heeds(); e.heed && !f.array {
		e.holdName(i)
	}
	if e.heed || f.after != nothing || f.copied {
		e.frames = append(e.frames, f)
	}
}

func (e *Editor) holdName(i int) {
	e.holding, e.named, e.held, e.token = true, true, i, -1
}

// comma is the one at i in a container that matters.
func (e *Editor) comma(i int) {
	f := e.top()
	switch {
	case f.array && !f.list:
	case !f.array && !f.list:
		e.holdName(i)
	case !f.array:
		e.pass(i)
		e.muted = true
		e.holdName(i)
	case !e.keeps(f.index):
		e.pass(i)
		e.muted = true
	case !f.any: // the first that is passed on has no comma in front
		e.muted, e.from = false, i+1
	}
}

// left ends a container that matters, right behind its bracket.
func (e *Editor) left(i int) {
	f := e.top()
	if e.holding { // white space of an empty object
		e.release(nil, i-1)
	}
	if e.plan.places {
		e.leftPlace(f, i)
	}
	switch {
	case f.list && !f.array:
		e.pass(i - 1)
		e.emit(closing)
		e.muted, e.from = false, i
	case f.list && e.muted:
		e.muted, e.from = false, i-1
	case f.resource && e.append != nil:
		e.pass(i - 1)
		if e.text = e.append(e.text[:0], e.slots[e.plan.id]); len(e.text) > 0 {
			if f.any {
				e.emit(comma)
			}
			e.emit(e.text)
		}
	}
	e.over(f.after, i)
	e.frames = e.frames[:len(e.frames)-1]
}

func (e *Editor) over(what after, i int) {
	switch what {
	case mute:
		e.pass(i)
		e.muted = true
	case unmute:
		e.muted, e.from = false, i
	}
}

// known captures the container of entryDepth, now that it is known whether anything is in it.
func (e *Editor) known(k Kind, empty bool) {
	e.present = e.entry
	e.capture(Scalar{Kind: k, Empty: empty})
	e.present, e.entryDepth = aim{}, 0
}
