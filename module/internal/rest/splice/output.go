package splice

import "io"

// output passes on the edited text. Of an error, err is the first, also of the scanner.
type output struct {
	to     io.Writer
	buffer []byte // of outSize
	err    error  // permanent
	chunk  []byte
	from   int  // start of what was not passed on yet, in the chunk
	muted  bool // nothing is passed on
}

// afterwards says how the output changes after a value.
type afterwards uint8

const (
	unchanged afterwards = iota
	mute
	unmute
)

// switchTo mutes or unmutes the output at i.
func (o *output) switchTo(what afterwards, i int) {
	switch what {
	case mute:
		o.pass(i)
		o.muted = true
	case unmute:
		o.muted, o.from = false, i
	}
}

// pass passes on the chunk up to i.
func (o *output) pass(i int) {
	if !o.muted {
		o.emit(o.chunk[o.from:i])
	}
	o.from = i
}

// emit writes bytes that need not be part of the text, unless there was an error.
func (o *output) emit(b []byte) {
	if len(b) > cap(o.buffer)-len(o.buffer) || o.err != nil {
		o.emitLong(b)
		return
	}
	o.buffer = append(o.buffer, b...)
}

// emitLong is emit where the buffer has no room.
func (o *output) emitLong(b []byte) {
	if o.flush(); o.err != nil {
		return
	}
	if len(b) > cap(o.buffer) {
		_, o.err = o.to.Write(b)
		return
	}
	o.buffer = append(o.buffer, b...)
}

func (o *output) flush() {
	if o.err == nil && len(o.buffer) > 0 {
		_, o.err = o.to.Write(o.buffer)
		o.buffer = o.buffer[:0]
	}
}
