package splice

import (
	"io"
	"strconv"
	"sync"
)

// Plan is a compiled Config. It may be used by several goroutines at a time.
type Plan struct {
	list      bool
	window    window
	edits     bool
	any       bool // Config.Any
	places    bool // something inside the resource object is lifted or dropped
	append    func(dst []byte, id Scalar) []byte
	members   table[member]
	document  node
	resource  node // leads to the ID
	id        int  // the slot of the ID
	slots     int
	maxDepth  int
	maxScalar int
	longest   int // bytes of the longest name or value that is looked for
	pool      sync.Pool
}

// maxRawScalar is how many bytes a captured scalar has at most as it stands in a text.
func (p *Plan) maxRawScalar() int { return 6*p.maxScalar + 2 }

// node is a step of the pointers that are looked for.
type node struct {
	steps       table[node]
	root        bool  // Config.Root is here
	leadsToRoot bool  // it is here or below
	slots       []int // captures of this very value
	below       []int // and of those in it
	// Of the resource's tree alone.
	lifted  *lifted // it becomes a member of the resource; may be nil
	dropped bool    // the member is left out
	drops   bool    // a member in it is
}

// member says what becomes of a member of the resource object.
type member struct {
	name   []byte // quoted; nil: it keeps its own
	drop   bool
	values table[[]byte]
}

// Compile checks a Config, which must not be changed afterwards.
func Compile(c Config) (*Plan, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := &Plan{
		list: c.List, edits: c.edits(), any: c.Any, append: c.Append,
		id: len(c.Capture), slots: len(c.Capture) + 1, maxDepth: c.MaxDepth, maxScalar: c.MaxScalar,
	}
	p.window = newWindow(c.Skip, c.Take)
	if p.maxDepth == 0 {
		p.maxDepth = DefaultMaxDepth
	}
	if p.maxScalar == 0 {
		p.maxScalar = DefaultMaxScalar
	}
	for _, n := range p.document.lead(c.Root, p) {
		n.leadsToRoot = true
	}
	p.document.at(c.Root).root = true
	for slot, place := range c.Capture {
		p.document.capture(place, slot, p)
	}
	if len(c.ID) > 0 && c.Append != nil {
		p.resource.capture(c.ID, p.id, p)
	}
	p.compileMembers(c)
	p.compilePlaces(c)
	return p, nil
}

func (p *Plan) compileMembers(c Config) {
	of := func(name string) *member {
		p.longest = max(p.longest, len(name))
		return p.members.put(name)
	}
	for old, name := range c.Rename {
		of(old).name = quote(name)
		if _, moves := c.Rename[name]; !moves {
			of(name).drop = true
		}
	}
	for _, name := range c.Drop {
		of(name).drop = true
	}
	for name, values := range c.Values {
		m := of(name)
		for text, value := range values {
			p.longest = max(p.longest, len(text))
			*m.values.put(text) = quote(value)
		}
	}
}

// lead makes the steps of a place, and returns all on the way to it.
func (n *node) lead(place Pointer, p *Plan) []*node {
	way := []*node{n}
	for _, token := range place {
		p.longest = max(p.longest, len(token))
		n = n.steps.put(token)
		way = append(way, n)
	}
	return way
}

func (n *node) at(place Pointer) *node {
	for _, token := range place {
		n = n.steps.get([]byte(token))
	}
	return n
}

func (n *node) capture(place Pointer, slot int, p *Plan) {
	for _, n = range n.lead(place, p) {
		n.below = append(n.below, slot)
	}
	n.slots = append(n.slots, slot)
}

// table finds things by their names. Few are compared one by one.
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

// New returns an editor for one text. The edited one goes to dst as it comes.
func (p *Plan) New(dst io.Writer) *Editor {
	e, ok := p.pool.Get().(*Editor)
	if !ok {
		e = &Editor{plan: p, captured: captured{slots: make([]Scalar, p.slots)}, out: output{buffer: make([]byte, 0, outSize)}}
	}
	e.out.dst = dst
	e.start()
	return e
}
