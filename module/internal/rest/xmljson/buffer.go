package xmljson

// buffer takes what is written. While it measures, it only counts.
type buffer struct {
	text        []byte
	size, limit int
	measures    bool
}

// buildSized returns what write writes, of at most limit bytes, in no more memory than that takes. write is called once to
// measure and once more, and must write the same; it should stop when the buffer is full. fits is false, and nothing was kept,
// if it reports false or writes more.
func buildSized(limit int, write func(*buffer) bool) (text []byte, fits bool) {
	b := &buffer{limit: limit, measures: true}
	if !write(b) || b.isFull() {
		return nil, false
	}
	b.measures, b.text = false, make([]byte, 0, b.size)
	write(b)
	return b.text, true
}

// isFull reports whether more than the limit was written.
func (b *buffer) isFull() bool { return b.size > b.limit && b.measures }

func (b *buffer) put(text string) {
	if b.measures {
		b.size += len(text)
	} else {
		b.text = append(b.text, text...)
	}
}

func (b *buffer) write(text []byte) {
	if b.measures {
		b.size += len(text)
	} else {
		b.text = append(b.text, text...)
	}
}
