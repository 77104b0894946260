package splice

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Sought is a place inside the resource object that an edit names.
type Sought struct {
	At Pointer
	// Hidden says that the value must not be passed on from anywhere else.
	Hidden bool
}

// ErrWrapped is returned for a text whose resource objects are further inside than is declared. It has a Hidden place of
// Config.Seek only there, or others while it has none where it is declared.
var ErrWrapped = errors.New("drop, rename or values name a member that the resource has only further inside; write item <pointer> for the place of the resource, " +
	`list { items <pointer> } for that of the elements of a list, or item <operation> "" if the response itself is the resource`)

// sought is a compiled Sought.
type sought struct {
	slot int
	path []byte
}

// seeking finds out whether the resource objects of a text are where they are declared.
type seeking struct {
	path    []byte   // of the last name, from the resource object
	found   []bool   // by Config.Seek: the place was there
	inside  []string // by Config.Seek: a path further inside that ends like the place
	any     bool     // one was found
	settled bool     // nothing that follows can be ErrWrapped
	strict  bool
}

// compileSeek compiles Config.Seek.
func (p *Plan) compileSeek(places []Sought) {
	for i, s := range places {
		name := s.At[len(s.At)-1]
		p.longest = max(p.longest, len(name))
		of := p.seek.put(name)
		*of = append(*of, sought{i, joinPath(s.At)})
	}
	p.sought = places
}

func joinPath(at Pointer) (path []byte) {
	for _, token := range at {
		path = append(append(path, '/'), token...)
	}
	return path
}

// seekName looks at a name in a resource object or inside one. A nil name is longer than any that matters.
func (e *Editor) seekName(f *frame, name []byte) error {
	s := &e.seeking
	s.path = append(append(s.path[:f.path], '/'), name...)
	places := e.plan.seek.get(name)
	if places == nil || e.out.muted || name == nil {
		return nil
	}
	for _, at := range *places {
		switch {
		case bytes.Equal(s.path, at.path):
			s.found[at.slot], s.any = true, true
			s.settled = s.foundHidden(e.plan.sought)
		case bytes.HasSuffix(s.path, at.path) && s.inside[at.slot] == "":
			s.inside[at.slot] = string(s.path)
		}
	}
	if s.strict {
		return s.check(e.plan.sought)
	}
	return nil
}

// enter notes the path of the container f in outer.
func (s *seeking) enter(f, outer *frame) {
	if f.resource && !f.envelope {
		s.path = s.path[:0]
	} else if outer.array {
		s.path = strconv.AppendInt(append(s.path[:outer.path], '/'), outer.index-1, 10)
	}
	f.path = len(s.path)
}

// check returns ErrWrapped if the resource objects that were read so far are not where they are declared.
func (s *seeking) check(places []Sought) error {
	for i, path := range s.inside {
		if path != "" && !s.found[i] && (places[i].Hidden || !s.any) {
			return fmt.Errorf("%w: %s", ErrWrapped, path)
		}
	}
	return nil
}

// Settled reports whether nothing that follows can be ErrWrapped.
func (e *Editor) Settled() bool { return e.seeking.settled || len(e.plan.sought) == 0 }

// foundHidden reports whether all Hidden places were found.
func (s *seeking) foundHidden(places []Sought) bool {
	for i, place := range places {
		if place.Hidden && !s.found[i] {
			return false
		}
	}
	return true
}

// Commit says that what was passed on cannot be taken back. What is ErrWrapped from now on is so at once, whatever follows.
func (e *Editor) Commit() error {
	e.seeking.strict = true
	return e.seeking.check(e.plan.sought)
}
