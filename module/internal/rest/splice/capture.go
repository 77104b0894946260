package splice

import "cmp"

// Kind is the kind of a captured value.
type Kind uint8

// Kinds of values. Absent means that there was none.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Object
	Array
)

var kindNames = [...]string{"absent", "null", "bool", "number", "string", "object", "array"}

func (k Kind) String() string { return kindNames[k] }

// Scalar is a captured value.
type Scalar struct {
	Kind Kind
	// Text is a string decoded, or the bytes of a number, true, false or null.
	Text string
	// Long says that an Absent value was there, but longer than Config.MaxScalar.
	Long bool
	// Empty says that an object or array is empty.
	Empty bool
}

var kinds = [256]Kind{'{': Object, '[': Array, '"': String, 't': Bool, 'f': Bool, 'n': Null}

// kindOf returns the kind of the value that begins with c.
func kindOf(c byte) Kind { return cmp.Or(kinds[c], Number) }

// captured has the captured values. The part of a scalar from earlier chunks is kept until the scalar ends.
type captured struct {
	slots   []Scalar
	on      bool   // a scalar is being captured
	from    int    // where it begins in the chunk
	earlier []byte // what of it was in earlier chunks

	// container is captured once it is known whether it is empty; containerDepth is 0 if there is none.
	container      edit
	containerDepth int
}

// store stores a value in every slot of a place.
func (c *captured) store(of *edit, s Scalar) {
	for _, n := range [...]*node{of.doc, of.id} {
		if n != nil {
			for _, slot := range n.slots {
				c.slots[slot] = s
			}
		}
	}
}

// forget drops what an earlier member of the same name has captured.
func (c *captured) forget(n *node) *node {
	if n != nil {
		for _, slot := range n.below {
			c.slots[slot] = Scalar{}
		}
	}
	return n
}

// storeContainer captures the container of containerDepth.
func (c *captured) storeContainer(k Kind, empty bool) {
	c.store(&c.container, Scalar{Kind: k, Empty: empty})
	c.containerDepth = 0
}

// captureScalar captures the scalar that ends right before i.
func (e *Editor) captureScalar(i int) {
	c := &e.captured
	raw := e.out.chunk[c.from:i]
	if len(c.earlier) > 0 {
		c.earlier = append(c.earlier, raw...)
		raw = c.earlier
	}
	s := Scalar{Long: true}
	if len(raw) <= e.plan.maxRawScalar() {
		kind := kindOf(raw[0])
		if kind == String {
			e.text = unquote(e.text[:0], raw[1:len(raw)-1])
			raw = e.text
		}
		if len(raw) <= e.plan.maxScalar {
			s = Scalar{Kind: kind, Text: string(raw)}
		}
	}
	c.store(&e.at.current, s)
	c.on, c.earlier = false, c.earlier[:0]
}
