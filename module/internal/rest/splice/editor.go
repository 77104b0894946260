package splice

import "io"

// Bounds of what an editor holds and keeps.
const (
	outSize  = 8 << 10 // edited bytes on their way to dst
	maxSpace = 256     // white space between a comma and a name; more of it is left out
	maxKept  = 16 << 10
)

// Editor copies one text. Its zero value is not usable, see Plan.New.
type Editor struct {
	plan *Plan
	dst  io.Writer
	out  []byte
	err  error // for ever

	// What Vary may have changed.
	skip, last int64 // elements from skip, and before last, are passed on
	append     func(dst []byte, id Scalar) []byte

	// The scanner.
	state  state
	naming bool // the string is a name
	num    part // of a number
	hex    int  // digits still to come
	lit    string
	depth  int
	arrays []bool // at each depth, whether it is an array
	base   int64  // bytes before the present chunk

	// What is done with values. Places are offsets in the present chunk.
	p      []byte
	from   int  // not yet passed on
	muted  bool // nothing is passed on
	frames []frame
	heed   bool // names or elements of the present container matter
	aim    aim  // of the value that comes next
	found  bool
	wrong  bool // Root is of the wrong kind
	slots  []Scalar
	seen   int64 // elements

	// A part that is not passed on before it is known what becomes of it: a comma,
	// white space and a name, or a scalar. What was in earlier chunks is in hold.
	holding bool
	named   bool // with a name
	held    int  // where it begins
	token   int  // where the name or scalar begins, counted from there; -1: not yet
	hold    []byte

	// A scalar that is captured. What was in earlier chunks is in tok.
	watching bool
	watched  int
	tok      []byte

	// The container that is captured as soon as it is known whether it is empty; entryDepth
	// 0: none.
	entry      aim
	entryDepth int

	present aim // of the scalar or container that is being read
	text    []byte

	lifting lifting // values that become members
}

// frame is a container that matters. All others are only counted.
type frame struct {
	depth    int
	doc, id  *node
	array    bool
	list     bool // the declared list
	resource bool // an object that is edited
	any      bool // something of it was passed on
	hidden   bool // of a resource: the present member is dropped
	copied   bool // a value that is lifted
	index    int64
	after    after
}

// aim is what is to be done with a value.
type aim struct {
	doc, id  *node
	values   *table[[]byte]
	list     bool
	resource bool
	copied   bool // it is lifted
	after    after
}

// after is what happens when a value is over.
type after uint8

const (
	nothing after = iota
	mute
	unmute
)

func (e *Editor) start() {
	e.skip, e.last, e.append = e.plan.skip, e.plan.last, e.plan.append
	e.state = beforeValue
	e.muted = !e.plan.document.root
	e.aim = aim{doc: &e.plan.document}
	e.heed = true
}

// Vary changes, for this text alone and before its first byte, what a plan that serves
// many leaves open: the elements that are passed on, and what is appended. Take 0 is all,
// a nil append the plan's; it has no effect on a plan without one.
func (e *Editor) Vary(skip, take int, append func(dst []byte, id Scalar) []byte) {
	e.skip, e.last = window(skip, take)
	if append != nil && e.append != nil {
		e.append = append
	}
}

// Release gives the editor back. It must not be used afterwards.
func (e *Editor) Release() {
	clear(e.slots)
	clear(e.frames)
	*e = Editor{
		plan: e.plan, slots: e.slots, out: e.out[:0], arrays: e.arrays[:0], frames: e.frames[:0],
		hold: small(e.hold), tok: small(e.tok), text: small(e.text), lifting: lifting{held: small(e.lifting.held)},
	}
	e.plan.pool.Put(e)
}

func small(b []byte) []byte {
	if cap(b) > maxKept {
		return nil
	}
	return b[:0]
}

// Write scans a part of the text, and writes to dst what of it is known to pass. An
// error stays.
func (e *Editor) Write(p []byte) (int, error) {
	if e.err != nil {
		return 0, e.err
	}
	e.p, e.from, e.held, e.watched = p, 0, 0, 0
	if err := e.scan(p); err != nil && e.err == nil {
		e.err = err
	}
	if e.err == nil {
		e.pause()
		e.flush()
	}
	e.p = nil
	e.base += int64(len(p))
	if e.err != nil {
		return 0, e.err
	}
	return len(p), nil
}

// Close ends the text.
func (e *Editor) Close() error {
	if e.err != nil {
		return e.err
	}
	if e.state == inNumber && e.depth == 0 && e.num.whole() {
		e.p, e.from, e.held, e.watched = nil, 0, 0, 0
		e.finish(0)
		e.state = afterText
		e.flush()
	}
	switch {
	case e.err != nil:
	case e.state != afterText:
		e.err = ErrIncomplete
	case !e.found:
		e.err = ErrRoot
	}
	return e.err
}

// Captured is what is known so far of the value at Capture[i].
func (e *Editor) Captured(i int) Scalar { return e.slots[i] }

// Elements counts those of the list so far, passed on or not.
func (e *Editor) Elements() int64 { return e.seen }

// Read counts the bytes of the text so far.
func (e *Editor) Read() int64 { return e.base }

// Found reports whether Root was there, and of the declared kind.
func (e *Editor) Found() bool { return e.found }

// pause keeps, at the end of a chunk, what is needed of it.
func (e *Editor) pause() {
	end := len(e.p)
	if e.watching {
		rest := e.p[e.watched:]
		if len(e.tok)+len(rest) > e.rawScalar() {
			e.capture(Scalar{Long: true})
			e.watching, e.tok = false, e.tok[:0]
		} else {
			e.tok = append(e.tok, rest...)
		}
	}
	if e.lifting.on {
		e.err = e.copyTo(end)
	}
	if !e.holding {
		e.pass(end)
		return
	}
	e.pass(e.held)
	rest := e.p[e.held:]
	switch {
	case e.token < 0:
		e.hold = append(e.hold, rest[:min(len(rest), max(0, maxSpace-len(e.hold)))]...)
	case len(e.hold)+len(rest)-e.token <= 6*e.plan.longest+2:
		e.hold = append(e.hold, rest...)
	case e.named: // too long to be any that is looked for
		e.err = e.member(nil, false, end)
		e.pass(end)
	default:
		e.release(nil, end)
		e.pass(end)
	}
}

// rawScalar is how many bytes a captured scalar has at most as it stands in a text.
func (e *Editor) rawScalar() int { return 6*e.plan.maxScalar + 2 }

// pass passes on what comes before i.
func (e *Editor) pass(i int) {
	if !e.muted {
		e.emit(e.p[e.from:i])
	}
	e.from = i
}

func (e *Editor) emit(b []byte) {
	if len(e.out)+len(b) <= cap(e.out) {
		e.out = append(e.out, b...)
		return
	}
	e.flush()
	if len(b) >= cap(e.out) {
		e.write(b)
		return
	}
	e.out = append(e.out, b...)
}

func (e *Editor) flush() {
	if len(e.out) > 0 {
		e.write(e.out)
		e.out = e.out[:0]
	}
}

func (e *Editor) write(b []byte) {
	if e.err != nil {
		return
	}
	n, err := e.dst.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	e.err = err
}
