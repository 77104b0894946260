package splice

import (
	"errors"
	"fmt"
	"slices"
)

// Lift makes a member of the resource object out of a value somewhere inside it.
type Lift struct {
	// Name is the new member's.
	Name string
	// From is where the value is, in the sender's names. It has two steps at least: for one,
	// there is Rename. Where nothing is there, there is no member.
	From Pointer
	// Values takes the place of a scalar, as in Config.Values.
	Values map[string]string
}

// MaxLifted is how many bytes are held of the lifted values of one resource object. Values in
// a member that is dropped are not held: they pass as they come.
const MaxLifted = 1 << 20

// ErrLifted is a resource object whose lifted values are longer than MaxLifted.
var ErrLifted = errors.New("the values that are moved within a resource are too long to be held; drop the members that they are in, and they need not be")

// lifted is what becomes of a value that is lifted.
type lifted struct {
	name   []byte // quoted, with a colon
	values table[[]byte]
}

// lifting holds, at the end of a resource object, what was lifted out of members that pass.
type lifting struct {
	held []byte // members, each with a comma in front
	at   int    // where the value that is being copied begins
	on   bool   // a value is being copied
	from int    // where what is not copied yet begins in the present chunk
}

// checkPlaces checks what is lifted and dropped inside the resource object.
func (c *Config) checkPlaces() error {
	var places []Pointer
	for _, l := range c.Lift {
		if len(l.From) < 2 {
			return fmt.Errorf("splice: '%s' is lifted from %s, expected a pointer of two steps at least", l.Name, l.From)
		}
		if slices.ContainsFunc(c.Lift, func(other Lift) bool { return other.Name == l.Name && other.From.String() != l.From.String() }) {
			return fmt.Errorf("splice: '%s' is lifted from two places", l.Name)
		}
		for _, name := range c.Rename {
			if name == l.Name {
				return fmt.Errorf("splice: '%s' is both renamed and lifted", l.Name)
			}
		}
		for _, other := range places {
			if n := min(len(other), len(l.From)); slices.Equal(other[:n], l.From[:n]) {
				return fmt.Errorf("splice: %s and %s are both lifted, and one is in the other", other, l.From)
			}
		}
		places = append(places, l.From)
	}
	for _, place := range c.DropAt {
		if len(place) < 2 {
			return fmt.Errorf("splice: %s is dropped, expected a pointer of two steps at least", place)
		}
	}
	return nil
}

// compilePlaces leads to what is lifted and dropped inside the resource object.
func (p *Plan) compilePlaces(c Config) {
	p.places = len(c.Lift)+len(c.DropAt) > 0
	for _, l := range c.Lift {
		p.resource.lead(l.From, p)
		to := &lifted{name: append(quote(l.Name), ':')}
		for text, value := range l.Values {
			p.longest = max(p.longest, len(text))
			*to.values.put(text) = quote(value)
		}
		p.resource.at(l.From).lifted = to
		p.longest = max(p.longest, len(l.Name))
		if m := p.members.put(l.Name); m.name == nil {
			m.drop = true // the lifted one takes its place
		}
	}
	for _, place := range c.DropAt {
		p.resource.lead(place, p)
		p.resource.at(place).dropped = true
		p.resource.at(place[:len(place)-1]).drops = true
	}
}

// beginLift begins to pass on a value, at i, as a member of the resource object: at once where the
// member that it is in does not pass, and otherwise at the object's end.
func (e *Editor) beginLift(l *lifted, i int, a edit) edit {
	if !l.values.empty() {
		a.values = &l.values
	}
	f := e.at.resource()
	if f == nil || !f.hidden {
		e.lifting.held = append(append(e.lifting.held, ','), l.name...)
		e.lifting.at, e.lifting.on, e.lifting.from, a.copied = len(e.lifting.held), true, i, true
		return a
	}
	if f.any {
		e.out.emit(comma)
	}
	f.any = true
	e.out.emit(l.name)
	e.out.muted, e.out.from, a.after = false, i, mute
	return a
}

// copyTo copies what of a lifted value comes before i.
func (e *Editor) copyTo(i int) error {
	if len(e.lifting.held)+i-e.lifting.from > MaxLifted {
		return ErrLifted
	}
	e.lifting.held = append(e.lifting.held, e.out.chunk[e.lifting.from:i]...)
	e.lifting.from = 0
	return nil
}

// endScalarCopy ends a scalar that was copied.
func (e *Editor) endScalarCopy(i int) {
	var instead []byte
	if e.held.on {
		instead = e.replacement(i)
	}
	e.at.current.copied = false
	e.endCopy(instead, i)
}

// endCopy ends a value that was copied, right before i; instead is what it became, if it became something
// else.
func (e *Editor) endCopy(instead []byte, i int) {
	e.lifting.on = false
	if instead != nil {
		e.lifting.held = append(e.lifting.held[:e.lifting.at], instead...)
		return
	}
	if err := e.copyTo(i); err != nil && e.out.err == nil {
		e.out.err = err
	}
}

// leavePlace ends, right behind its bracket, a resource object or a value that was copied.
func (e *Editor) leavePlace(f *frame, i int) {
	if f.resource {
		e.passLifted(f, i-1)
	}
	if f.copied {
		e.endCopy(nil, i)
	}
}

// passLifted passes on, right before the bracket that ends a resource object at i, what was
// lifted out of members that pass.
func (e *Editor) passLifted(f *frame, i int) {
	if len(e.lifting.held) == 0 {
		return
	}
	e.out.pass(i)
	members := e.lifting.held
	if !f.any {
		members = members[1:]
	}
	f.any = true
	e.out.emit(members)
	e.lifting.held = small(e.lifting.held)
}
