package splice

import "math"

// position is where the scanner is in the document, and what happens to the values there.
type position struct {
	frames    []frame
	tracked   bool // names or elements of this container matter
	next      edit // of the value that comes next
	current   edit // of the scalar or container that is being read
	rootFound bool
	rootWrong bool  // Root is of the wrong kind
	elements  int64 // of the list, so far
}

// frame is a container that matters. Others are only counted.
type frame struct {
	edit
	depth  int
	array  bool
	any    bool // something of it was passed on
	hidden bool // of a resource: the present member is dropped
	index  int64
	path   int // the length of the path to it, if it seeks
}

// edit is what happens to a value.
type edit struct {
	doc, id  *node
	values   *table[[]byte]
	list     bool // it is the declared list
	resource bool // it is an object that is edited
	envelope bool // it is the resource around the list
	guarded  bool // no object in it may have a name of Config.Guard; of a resource, none but itself
	seeks    bool // names in it are compared with Config.Seek
	copied   bool // it is lifted
	after    afterwards
}

// window is the range of list elements that are passed on, from first and before last.
type window struct{ first, last int64 }

func newWindow(skip, take int) window {
	if take == 0 {
		take = math.MaxInt - skip
	}
	return window{int64(skip), int64(skip) + int64(take)}
}

func (w window) contains(index int64) bool { return index >= w.first && index < w.last }

// isTracked reports whether elements or names of the container matter.
func (f *frame) isTracked() bool {
	return f.list || f.resource || f.guarded || f.seeks || f.doc != nil && !f.doc.steps.empty() || f.id != nil && !f.id.steps.empty()
}

// top returns the innermost container that matters, nil if there is none.
func (p *position) top() *frame {
	if n := len(p.frames); n > 0 {
		return &p.frames[n-1]
	}
	return nil
}

// resource returns the resource object that is being read, nil if there is none.
func (p *position) resource() *frame {
	for n := len(p.frames) - 1; n >= 0; n-- {
		if p.frames[n].resource {
			return &p.frames[n]
		}
	}
	return nil
}

// element returns the edit of the next element of an array.
func (f *frame) element() (a edit) {
	if f.doc != nil {
		a.doc = f.doc.steps.at(f.index)
	}
	if f.id != nil {
		a.id = f.id.steps.at(f.index)
	}
	return a
}

func (a *edit) isCaptured() bool {
	return a.doc != nil && len(a.doc.slots) > 0 || a.id != nil && len(a.id.slots) > 0
}

var (
	comma      = []byte(",")
	opening    = []byte("[")
	closing    = []byte("]")
	emptyArray = []byte("[]")
)

// beginValue decides what happens to the value that begins with c at i, in a container that matters.
func (e *Editor) beginValue(c byte, i int) {
	a := e.at.next
	e.at.next = edit{}
	if f := e.at.top(); f != nil {
		if f.array {
			a = f.element()
		}
		a.guarded, a.seeks = f.guarded, f.seeks && !e.seeking.settled
		if f.list {
			e.beginElement(f, c, i, &a)
		}
		f.index++
	} else if e.plan.around {
		a.resource, a.envelope, a.guarded = c == '{', true, e.plan.guards()
	}
	if a.doc != nil && a.doc.root {
		e.beginRoot(c, i, &a)
	}
	if e.plan.places && a.id != nil && a.id.lifted != nil {
		a = e.beginLift(a.id.lifted, i, a)
	}
	e.at.current = a
	if a.isCaptured() {
		if c == '{' || c == '[' {
			e.captured.container, e.captured.containerDepth = a, e.scanner.depth+1 // captured when it is known whether it is empty
		} else {
			e.captured.on, e.captured.from = true, i
		}
	}
	if a.values != nil && c != '{' && c != '[' {
		e.held.on, e.held.named, e.held.from, e.held.token = true, false, i, 0
	}
}

// beginElement decides what happens to a list element.
func (e *Editor) beginElement(f *frame, c byte, i int, a *edit) {
	e.at.elements++
	if c == '{' {
		a.guarded = false
	}
	if !e.window.contains(f.index) {
		return
	}
	if !f.array {
		if f.any {
			e.out.emit(comma)
		}
		e.out.muted, e.out.from = false, i
	}
	f.any, a.resource = true, e.plan.edits
}

// beginRoot begins to pass on the value at Root.
func (e *Editor) beginRoot(c byte, i int, a *edit) {
	p := e.plan
	right := !p.edits || p.any || c == '{'
	if p.list {
		right = c == '[' || !p.around && (c == '{' || c == 'n')
	}
	if !right {
		e.at.rootWrong, e.out.muted = true, true
		return
	}
	e.at.rootFound, a.guarded = true, p.guards()
	if e.out.muted && !p.around {
		e.out.muted, e.out.from, a.after = false, i, mute
	}
	switch {
	case p.around && e.out.muted: // the member is dropped
	case p.list && c == 'n':
		e.out.pass(i)
		e.out.emit(emptyArray)
		e.out.muted, a.after = true, unchanged
	case p.list:
		a.list = true
	default:
		a.resource = p.edits && c == '{'
	}
}

// enterContainer begins a container, right after its bracket.
func (e *Editor) enterContainer(i int) {
	a := e.at.current
	e.at.current = edit{}
	f := frame{edit: a, depth: e.scanner.depth, array: e.scanner.arrays[e.scanner.depth-1]}
	if f.resource = a.resource && !f.array; f.resource && !f.envelope {
		e.captured.slots[e.plan.id] = Scalar{}
		f.id, f.seeks = &e.plan.resource, !e.Settled()
	}
	if f.seeks {
		e.seeking.enter(&f, e.at.top())
	}
	if f.list && !f.array {
		e.out.pass(i - 1)
		e.out.emit(opening)
		e.out.muted = true
	} else if f.list && !e.window.contains(0) {
		e.out.pass(i)
		e.out.muted = true
	}
	if e.at.tracked = f.isTracked(); e.at.tracked && !f.array {
		e.held.beginName(i)
	}
	if e.at.tracked || f.after != unchanged || f.copied {
		e.at.frames = append(e.at.frames, f)
	}
}

// passComma decides what happens to the comma at i in a container that matters.
func (e *Editor) passComma(i int) {
	f := e.at.top()
	switch {
	case f.array && !f.list:
	case !f.array && !f.list:
		e.held.beginName(i)
	case !f.array:
		e.out.pass(i)
		e.out.muted = true
		e.held.beginName(i)
	case !e.window.contains(f.index):
		e.out.pass(i)
		e.out.muted = true
	case !f.any: // the first element that is passed on has no comma before it
		e.out.muted, e.out.from = false, i+1
	}
}

// leaveContainer ends a container that matters, right after its bracket.
func (e *Editor) leaveContainer(i int) {
	f := e.at.top()
	if e.held.on { // white space of an empty object
		e.release(nil, i-1)
	}
	edited := f.resource && !f.envelope
	if edited {
		e.passLifted(f, i-1)
	}
	if f.copied {
		e.endCopy(nil, i)
	}
	switch {
	case f.list && !f.array:
		e.out.pass(i - 1)
		e.out.emit(closing)
		e.out.muted, e.out.from = false, i
	case f.list && e.out.muted:
		e.out.muted, e.out.from = false, i-1
	case edited && e.append != nil:
		e.out.pass(i - 1)
		if e.text = e.append(e.text[:0], e.captured.slots[e.plan.id]); len(e.text) > 0 {
			if f.any {
				e.out.emit(comma)
			}
			e.out.emit(e.text)
		}
	}
	e.out.switchTo(f.after, i)
	e.at.frames = e.at.frames[:len(e.at.frames)-1]
}
