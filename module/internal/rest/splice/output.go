package splice

import "io"

// output passes on what of a text is to be passed on.
type output struct {
	dst    io.Writer
	buffer []byte
	err    error // permanent; of the scanner too
	chunk  []byte
	from   int  // where the part of the chunk begins that was not passed on yet
	muted  bool // nothing is passed on
}

// afterwards is what becomes of the output when a value is over.
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

// pass passes on what precedes i.
func (o *output) pass(i int) {
	if !o.muted {
		o.emit(o.chunk[o.from:i])
	}
	o.from = i
}

// emit passes on bytes that need not be of the text.
func (o *output) emit(b []byte) {
	if len(o.buffer)+len(b) <= cap(o.buffer) {
		o.buffer = append(o.buffer, b...)
		return
	}
	o.flush()
	if len(b) >= cap(o.buffer) {
		o.write(b)
		return
	}
	o.buffer = append(o.buffer, b...)
}

func (o *output) flush() {
	if len(o.buffer) > 0 {
		o.write(o.buffer)
		o.buffer = o.buffer[:0]
	}
}

func (o *output) write(b []byte) {
	if o.err != nil {
		return
	}
	n, err := o.dst.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	o.err = err
}
