package ratelimit

// link refers to an element of pages: 1 is the first, 0 refers to nothing.
type link = uint32

const (
	pageBytes = 4 << 10
	// pageSlack is how many bytes pages may hold beyond their elements: one page that is being
	// filled and half of one that is kept so that alternate pushes and pops allocate nothing.
	pageSlack = pageBytes * 3 / 2
)

// pages is an array that is extended and shortened at its end. It allocates page by page, so
// that growing copies no elements, and frees pages when they are no longer needed. Its
// elements hold no pointers, so that the garbage collector does not visit them.
type pages[T any] struct {
	shift uint8 // log2 of the elements in a page
	n     uint32
	held  [][]T
}

// element returns the element that l refers to. The pointer is valid until the next pop.
func (p *pages[T]) element(l link) *T {
	i := l - 1
	return &p.held[i>>p.shift][i&(1<<p.shift-1)]
}

// pushZero appends a zero element.
func (p *pages[T]) pushZero() link {
	if int(p.n)>>p.shift == len(p.held) {
		p.held = append(p.held, make([]T, 1<<p.shift))
	}
	p.n++
	return p.n
}

// popLast removes the last element.
func (p *pages[T]) popLast() {
	var zero T
	*p.element(p.n) = zero
	p.n--
	page := 1 << p.shift
	if last := len(p.held) - 1; last > 0 && int(p.n) <= last*page-page/2 {
		p.held[last] = nil
		p.held = p.held[:last]
	}
}

// allocatedBytes returns what is allocated for the elements.
func (p *pages[T]) allocatedBytes() int64 { return int64(len(p.held)) * pageBytes }
