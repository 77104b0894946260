package splice

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Lift moves a value inside the resource object into a member of it.
type Lift struct {
	Name string // of the new member
	// From is where the value is, in the upstream's names. It has at least two steps: Rename does one.
	// If there is no value, there is no member.
	From Pointer
	// Values replaces a scalar, as Config.Values does.
	Values map[string]string
}

// maxLifted is how many bytes of lifted values are held for one resource object. Values in a dropped member
// stream and are not held.
const maxLifted = 1 << 20

// ErrLifted is returned for a resource object with more than 1 MiB of lifted values.
var ErrLifted = errors.New("the values that are moved within a resource are too long to be held; drop the members that they are in, and they need not be")

// lifted is a compiled Lift.
type lifted struct {
	name   []byte // quoted, with a colon
	values table[[]byte]
	drops  *Plan // drops members of the value from an object with the lifted member alone; nil: none
}

// lifting holds values lifted out of members that pass, until the end of the resource object.
type lifting struct {
	held   []byte // members, each with a comma in front
	member *lifted
	at     int  // start of the value that is being copied
	on     bool // a value is being copied
	from   int  // start of what is not copied yet, in the chunk
}

// checkPlaces checks Lift and DropAt. olds has the upstream's names by the new ones.
func (c *Config) checkPlaces(olds map[string]string) error {
	var places []Pointer
	for _, l := range c.Lift {
		if len(l.From) < 2 {
			return fmt.Errorf("splice: '%s' is lifted from %s, expected a pointer of two steps at least", l.Name, l.From)
		}
		if slices.ContainsFunc(c.Lift, func(other Lift) bool { return other.Name == l.Name && other.From.String() != l.From.String() }) {
			return fmt.Errorf("splice: '%s' is lifted from two places", l.Name)
		}
		if _, renamed := olds[l.Name]; renamed {
			return fmt.Errorf("splice: '%s' is both renamed and lifted", l.Name)
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

// compilePlaces compiles Lift and DropAt.
func (p *Plan) compilePlaces(c Config) (err error) {
	p.places = len(c.Lift)+len(c.DropAt) > 0
	for _, l := range c.Lift {
		to := &lifted{name: append(Quote(l.Name), ':')}
		p.compileValues(&to.values, l.Values)
		if inside := l.dropAt(c.DropAt); len(inside) > 0 {
			if to.drops, err = Compile(Config{DropAt: inside, maxDepth: c.maxDepth}); err != nil {
				return err
			}
		}
		way := p.resource.lead(l.From, p)
		way[len(way)-1].lifted = to
		p.longest = max(p.longest, len(l.Name))
		if m := p.members.put(l.Name); m.name == nil {
			m.drop = true // the lifted one takes its place
		}
	}
	for _, place := range c.DropAt {
		way := p.resource.lead(place, p)
		way[len(way)-1].dropped, way[len(way)-2].drops = true, true
	}
	return nil
}

// dropAt returns those of the dropped places that are inside the lifted value, as they are from the object that gets it.
func (l Lift) dropAt(places []Pointer) (inside []Pointer) {
	n := len(l.From)
	for _, place := range places {
		if len(place) > n && slices.Equal(place[:n], l.From) {
			inside = append(inside, append(Pointer{l.Name}, place[n:]...))
		}
	}
	return inside
}

// beginLift begins to pass on the value at i as a member of the resource object: at once if the member that
// contains it is dropped, otherwise at the end of the object.
func (e *Editor) beginLift(l *lifted, i int, a edit) edit {
	if !l.values.empty() {
		a.values = &l.values
	}
	f := e.at.resource()
	if f == nil || !f.hidden {
		e.lifting.held = append(append(e.lifting.held, ','), l.name...)
		e.lifting.member, e.lifting.at, e.lifting.on, e.lifting.from, a.copied = l, len(e.lifting.held), true, i, true
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

// copyTo copies the lifted value up to i.
func (e *Editor) copyTo(i int) error {
	if len(e.lifting.held)+i-e.lifting.from > maxLifted {
		return ErrLifted
	}
	e.lifting.held = append(e.lifting.held, e.out.chunk[e.lifting.from:i]...)
	e.lifting.from = 0
	return nil
}

// endCopy ends the copy of a value right before i; instead replaces it if not nil.
func (e *Editor) endCopy(instead []byte, i int) {
	e.lifting.on = false
	if instead != nil {
		e.lifting.held = append(e.lifting.held[:e.lifting.at], instead...)
		return
	}
	err := e.copyTo(i)
	if err == nil && e.lifting.member.drops != nil {
		err = e.lifting.drop()
	}
	if err != nil && e.out.err == nil {
		e.out.err = err
	}
}

// drop leaves out the dropped members of the copied value. Where the value stands, they are dropped as it passes.
func (l *lifting) drop() error {
	start := l.at - len(l.member.name)
	var object bytes.Buffer
	e := l.member.drops.New(&object)
	defer e.Release()
	for _, part := range [][]byte{[]byte("{"), l.held[start:], []byte("}")} {
		if _, err := e.Write(part); err != nil {
			return err
		}
	}
	if err := e.Close(); err != nil {
		return err
	}
	l.held = append(l.held[:start], object.Bytes()[1:object.Len()-1]...)
	return nil
}

// passLifted passes on the lifted values right before i, the closing bracket of a resource object.
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
