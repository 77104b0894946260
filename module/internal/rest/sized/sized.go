// Package sized makes bodies in memory that take no more of it than they are long: what writes one is called twice, first to
// measure. It does not know what the bodies are.
package sized

// Buffer takes what is written. While it measures, it only counts.
type Buffer struct {
	body        []byte
	size, limit int
	measures    bool
}

// Build returns what write writes, of at most limit bytes. write is called once to measure and once more, and must write the
// same; it should stop when the buffer is full. fits is false, and nothing was kept, if it reports false or writes more.
func Build(limit int, write func(*Buffer) bool) (body []byte, fits bool) {
	b := &Buffer{limit: limit, measures: true}
	if !write(b) || b.IsFull() {
		return nil, false
	}
	b.measures, b.body = false, make([]byte, 0, b.size)
	write(b)
	return b.body, true
}

// IsFull reports whether more than the limit was written.
func (b *Buffer) IsFull() bool { return b.size > b.limit && b.measures }

// Len returns how many bytes were written.
func (b *Buffer) Len() int {
	if b.measures {
		return b.size
	}
	return len(b.body)
}

// Put writes a text.
func (b *Buffer) Put(text string) {
	if b.measures {
		b.size += len(text)
	} else {
		b.body = append(b.body, text...)
	}
}

// Write implements io.Writer. It cannot fail.
func (b *Buffer) Write(p []byte) (int, error) {
	if b.measures {
		b.size += len(p)
	} else {
		b.body = append(b.body, p...)
	}
	return len(p), nil
}
