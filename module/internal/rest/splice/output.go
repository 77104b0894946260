package splice

import "bufio"

// output passes on the edited text. Of an error, err is the first, also of the scanner.
type output struct {
	buffer *bufio.Writer
	err    error // permanent
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
	if o.err == nil {
		_, o.err = o.buffer.Write(b)
	}
}

func (o *output) flush() {
	if o.err == nil {
		o.err = o.buffer.Flush()
	}
}
