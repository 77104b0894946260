package splice

import (
	"cmp"
	"io"
	"strconv"
	"sync"
)

// Plan is a compiled Config. It is safe for concurrent use.
type Plan struct {
	list      bool
	window    window
	edits     bool
	any       bool // Config.Any
	around    bool // Config.Around
	places    bool // something inside the resource object is lifted or dropped
	append    func(dst []byte, id Scalar) []byte
	members   table[member]
	guard     table[struct{}]
	seek      table[[]sought] // Config.Seek by the last step
	sought    []Sought
	document  node
	resource  node // leads to the ID
	id        int  // the slot of the ID
	slots     int
	maxDepth  int
	maxScalar int
	longest   int // bytes of the longest name or value that is looked for
	pool      sync.Pool
}

// maxRawScalar is the greatest length of a captured scalar as written, with escapes and quotes.
func (p *Plan) maxRawScalar() int { return 6*p.maxScalar + 2 }

// guards reports whether any names are guarded.
func (p *Plan) guards() bool { return !p.guard.empty() }

// node is a step of the compiled pointers.
type node struct {
	steps       table[node]
	root        bool  // Config.Root is here
	leadsToRoot bool  // it is here or below
	slots       []int // captures of this value
	below       []int // captures of this value and of those inside it
	// Only below Plan.resource:
	lifted  *lifted // the value becomes a member of the resource; may be nil
	dropped bool    // the member is left out
	drops   bool    // a member of the value is left out
}

// member is the edit of a member of the resource object.
type member struct {
	name   []byte // quoted; nil: it keeps its own
	drop   bool
	values table[[]byte]
}

// Check reports what [Compile] would refuse.
func Check(c Config) error { return c.check() }

// Compile checks and compiles a Config, which must not be changed afterwards.
func Compile(c Config) (*Plan, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Plan{
		list: c.List, edits: c.edits(), any: c.Any, around: c.Around, append: c.Append,
		id: len(c.Capture), slots: len(c.Capture) + 1, window: newWindow(c.skip, c.take),
		maxDepth: cmp.Or(c.maxDepth, 128), maxScalar: cmp.Or(c.MaxScalar, 4096),
	}
	way := p.document.lead(c.Root, p)
	for _, n := range way {
		n.leadsToRoot = true
	}
	way[len(way)-1].root = true
	for slot, place := range c.Capture {
		p.document.capture(place, slot, p)
	}
	if len(c.ID) > 0 && c.Append != nil {
		p.resource.capture(c.ID, p.id, p)
	}
	p.compileMembers(c)
	for _, name := range c.Guard {
		p.longest = max(p.longest, len(name))
		p.guard.put(name)
	}
	p.compileSeek(c.Seek)
	if err := p.compilePlaces(c); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Plan) compileMembers(c Config) {
	of := func(name string) *member {
		p.longest = max(p.longest, len(name))
		return p.members.put(name)
	}
	for old, name := range c.Rename {
		of(old).name = Quote(name)
		if _, moves := c.Rename[name]; !moves {
			of(name).drop = true
		}
	}
	for _, name := range c.Drop {
		of(name).drop = true
	}
	for name, values := range c.Values {
		p.compileValues(&of(name).values, values)
	}
}

func (p *Plan) compileValues(t *table[[]byte], values map[string]string) {
	for text, value := range values {
		p.longest = max(p.longest, len(text))
		*t.put(text) = Quote(value)
	}
}

// lead adds the steps to a place, and returns the nodes on the way there.
func (n *node) lead(place Pointer, p *Plan) []*node {
	way := []*node{n}
	for _, token := range place {
		p.longest = max(p.longest, len(token))
		n = n.steps.put(token)
		way = append(way, n)
	}
	return way
}

func (n *node) capture(place Pointer, slot int, p *Plan) {
	for _, n = range n.lead(place, p) {
		n.below = append(n.below, slot)
	}
	n.slots = append(n.slots, slot)
}

// table finds things by name. A few are compared one by one, which is faster than a map.
type table[T any] struct {
	list   []entry[T]
	byName map[string]*T
}

type entry[T any] struct {
	name  string
	index int64 // as an array index (RFC 6901 section 4), -1: none
	value *T
}

const few = 8

func (t *table[T]) empty() bool { return len(t.list) == 0 }

func (t *table[T]) put(name string) *T {
	if v := t.get([]byte(name)); v != nil {
		return v
	}
	index, err := strconv.ParseInt(name, 10, 64)
	if err != nil || strconv.FormatInt(index, 10) != name {
		index = -1
	}
	e := entry[T]{name, index, new(T)}
	t.list = append(t.list, e)
	if len(t.list) > few {
		t.byName = map[string]*T{}
		for _, e := range t.list {
			t.byName[e.name] = e.value
		}
	}
	return e.value
}

func (t *table[T]) get(name []byte) *T {
	if t.byName != nil {
		return t.byName[string(name)]
	}
	for i := range t.list {
		if t.list[i].name == string(name) {
			return t.list[i].value
		}
	}
	return nil
}

func (t *table[T]) at(index int64) *T {
	for i := range t.list {
		if t.list[i].index == index {
			return t.list[i].value
		}
	}
	return nil
}

// New returns an editor for one text, which it writes to dst.
func (p *Plan) New(dst io.Writer) *Editor {
	e, ok := p.pool.Get().(*Editor)
	if !ok {
		e = &Editor{plan: p, captured: captured{slots: make([]Scalar, p.slots)}, out: output{buffer: make([]byte, 0, outSize)}}
		e.seeking.found, e.seeking.inside = make([]bool, len(p.sought)), make([]string, len(p.sought))
	}
	e.out.to = dst
	e.window, e.append = p.window, p.append
	e.scanner.state = beforeValue
	e.out.muted = !p.document.root && !p.around
	e.at.next = edit{doc: &p.document}
	e.at.tracked = true
	return e
}
