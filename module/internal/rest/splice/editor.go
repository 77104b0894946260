package splice

// Bounds of what an editor holds and keeps.
const (
	outSize  = 8 << 10 // edited bytes on their way to dst
	maxSpace = 256     // white space between a comma and a name; more of it is left out
	maxKept  = 16 << 10
)

// Editor copies one text, in four stages: the scanner finds the tokens of the text, the position knows
// where in the document they are and what is to be done with them, held, captured and lifting keep what
// has to wait, and the output passes on the rest. Its zero value is not usable, see Plan.New.
type Editor struct {
	plan     *Plan
	scanner  scanner
	at       position
	held     held
	captured captured
	lifting  lifting
	out      output

	// What Vary may have changed.
	window window
	append func(dst []byte, id Scalar) []byte

	text []byte // of the last string that was decoded
}

func (e *Editor) start() {
	e.window, e.append = e.plan.window, e.plan.append
	e.scanner.state = beforeValue
	e.out.muted = !e.plan.document.root
	e.at.next = edit{doc: &e.plan.document}
	e.at.tracked = true
}

// Vary changes, for this text alone and before its first byte, what a plan that serves
// many leaves open: the elements that are passed on, and what is appended. Take 0 is all,
// a nil append the plan's; it has no effect on a plan without one.
func (e *Editor) Vary(skip, take int, append func(dst []byte, id Scalar) []byte) {
	e.window = newWindow(skip, take)
	if append != nil && e.append != nil {
		e.append = append
	}
}

// Release gives the editor back. It must not be used afterwards.
func (e *Editor) Release() {
	clear(e.captured.slots)
	clear(e.at.frames)
	*e = Editor{
		plan: e.plan, scanner: scanner{arrays: e.scanner.arrays[:0]}, at: position{frames: e.at.frames[:0]},
		held: held{earlier: small(e.held.earlier)}, captured: captured{slots: e.captured.slots, earlier: small(e.captured.earlier)},
		lifting: lifting{held: small(e.lifting.held)}, out: output{buffer: e.out.buffer[:0]}, text: small(e.text),
	}
	e.plan.pool.Put(e)
}

// small returns an empty buffer to be used again, unless it has grown large.
func small(b []byte) []byte {
	if cap(b) > maxKept {
		return nil
	}
	return b[:0]
}

// Write scans a part of the text, and writes to dst what of it is known to pass. An error is permanent.
func (e *Editor) Write(p []byte) (int, error) {
	if e.out.err != nil {
		return 0, e.out.err
	}
	e.beginChunk(p)
	if err := e.scan(p); err != nil && e.out.err == nil {
		e.out.err = err
	}
	if e.out.err == nil {
		e.endChunk()
		e.out.flush()
	}
	e.out.chunk = nil
	e.scanner.base += int64(len(p))
	if e.out.err != nil {
		return 0, e.out.err
	}
	return len(p), nil
}

// Close ends the text.
func (e *Editor) Close() error {
	if e.out.err != nil {
		return e.out.err
	}
	if e.scanner.state == inNumber && e.scanner.depth == 0 && e.scanner.number.complete() {
		e.beginChunk(nil)
		e.endScalar(0)
		e.scanner.state = afterText
		e.out.flush()
	}
	switch {
	case e.out.err != nil:
	case e.scanner.state != afterText:
		e.out.err = ErrIncomplete
	case !e.at.rootFound:
		e.out.err = ErrRoot
	}
	return e.out.err
}

// Captured returns what is known so far of the value at Capture[i].
func (e *Editor) Captured(i int) Scalar { return e.captured.slots[i] }

// Elements counts those of the list so far, passed on or not.
func (e *Editor) Elements() int64 { return e.at.elements }

// Read counts the bytes of the text so far.
func (e *Editor) Read() int64 { return e.scanner.base }

// Found reports whether Root was there, and of the declared kind.
func (e *Editor) Found() bool { return e.at.rootFound }

// beginChunk begins a chunk. Places in it are counted from its beginning.
func (e *Editor) beginChunk(p []byte) {
	e.out.chunk, e.out.from, e.held.from, e.captured.from = p, 0, 0, 0
}

// endChunk keeps, at the end of a chunk, what is needed of it.
func (e *Editor) endChunk() {
	end := len(e.out.chunk)
	if e.captured.on {
		rest := e.out.chunk[e.captured.from:]
		if len(e.captured.earlier)+len(rest) > e.plan.maxRawScalar() {
			e.captured.store(&e.at.current, Scalar{Long: true})
			e.captured.on, e.captured.earlier = false, e.captured.earlier[:0]
		} else {
			e.captured.earlier = append(e.captured.earlier, rest...)
		}
	}
	if e.lifting.on {
		e.out.err = e.copyTo(end)
	}
	if !e.held.on {
		e.out.pass(end)
		return
	}
	e.out.pass(e.held.from)
	rest := e.out.chunk[e.held.from:]
	switch {
	case e.held.token < 0:
		e.held.earlier = append(e.held.earlier, rest[:min(len(rest), max(0, maxSpace-len(e.held.earlier)))]...)
	case len(e.held.earlier)+len(rest)-e.held.token <= 6*e.plan.longest+2:
		e.held.earlier = append(e.held.earlier, rest...)
	case e.held.named: // longer than any name that is looked for
		e.out.err = e.decideMember(nil, false, end)
		e.out.pass(end)
	default:
		e.release(nil, end)
		e.out.pass(end)
	}
}
