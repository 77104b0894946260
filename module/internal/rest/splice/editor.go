package splice

const (
	outSize  = 8 << 10 // bytes of output that are buffered
	maxSpace = 256     // kept white space between a comma and a name; more is left out
	maxKept  = 16 << 10
)

// Editor edits one text. Its scanner finds the tokens; the position decides what happens to each value; held,
// captured and lifting keep what must wait; the output passes on the rest. Plan.New makes editors.
type Editor struct {
	plan     *Plan
	scanner  scanner
	at       position
	held     held
	captured captured
	lifting  lifting
	seeking  seeking
	out      output

	// Set by Vary.
	window window
	append func(dst []byte, id Scalar) []byte

	text []byte // buffer of the last decoded string
}

// Vary sets, for this text only and before its first byte, the elements that are passed on and what is appended.
// take 0 means all. A nil append keeps the plan's; a plan without one ignores append.
func (e *Editor) Vary(skip, take int, append func(dst []byte, id Scalar) []byte) {
	e.window = newWindow(skip, take)
	if append != nil && e.append != nil {
		e.append = append
	}
}

// Release returns the editor to its plan. It must not be used afterwards.
func (e *Editor) Release() {
	clear(e.captured.slots)
	clear(e.at.frames)
	clear(e.seeking.found)
	clear(e.seeking.inside)
	*e = Editor{
		plan: e.plan, scanner: scanner{arrays: e.scanner.arrays[:0]}, at: position{frames: e.at.frames[:0]},
		held: held{earlier: small(e.held.earlier)}, captured: captured{slots: e.captured.slots, earlier: small(e.captured.earlier)},
		lifting: lifting{held: small(e.lifting.held)}, seeking: seeking{path: small(e.seeking.path), found: e.seeking.found, inside: e.seeking.inside}, out: output{buffer: e.out.buffer[:0]}, text: small(e.text),
	}
	e.plan.pool.Put(e)
}

// small empties a buffer for reuse, or drops it if it has grown large.
func small(b []byte) []byte {
	if cap(b) > maxKept {
		return nil
	}
	return b[:0]
}

// Write edits a part of the text. An error is permanent.
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
	default:
		e.out.err = e.seeking.check(e.plan.sought)
	}
	return e.out.err
}

// RootMissing reports whether the text that was read has no value at Config.Root, not even one of another kind.
func (e *Editor) RootMissing() bool { return !e.at.rootFound && !e.at.rootWrong }

// Captured returns the value at Capture[i], as far as it was read.
func (e *Editor) Captured(i int) Scalar { return e.captured.slots[i] }

// Elements returns how many elements of the list were read, passed on or not.
func (e *Editor) Elements() int64 { return e.at.elements }

// Read returns how many bytes of the text were read.
func (e *Editor) Read() int64 { return e.scanner.base }

// beginChunk begins a chunk; positions count from its start.
func (e *Editor) beginChunk(p []byte) {
	e.out.chunk, e.out.from, e.held.from, e.captured.from = p, 0, 0, 0
}

// endChunk keeps what later chunks need of this one.
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
		if e.out.err = e.copyTo(end); e.out.err != nil {
			return
		}
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
		e.out.err = e.decideMember(nil, end)
		e.out.pass(end)
	default:
		e.release(nil, end)
		e.out.pass(end)
	}
}
