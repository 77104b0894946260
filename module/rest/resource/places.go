package resource

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/validate"
)

// places are the edits of an answer that are not the same as those of a body: a member that is
// read from inside the resource, and what does not reach clients.
type places struct {
	names  map[string]string            // the upstream's -> ours
	words  map[string]map[string]string // the upstream's member -> its value -> our word
	drop   []string
	dropAt []splice.Pointer
	lift   []splice.Lift
}

// compilePlaces needs the names and words of the shape.
func (s *shape) compilePlaces(r *Resource) error {
	s.places = places{names: s.names, words: s.words}
	if err := s.compileDrops(r); err != nil || len(r.Lift) == 0 {
		return err
	}
	s.places.names, s.places.words = maps.Clone(s.names), maps.Clone(s.words)
	lifted := make(map[string]splice.Pointer, len(r.Lift))
	for _, ours := range slices.Sorted(maps.Keys(r.Lift)) {
		from, err := splice.ParsePointer(r.Lift[ours])
		_, plain := r.Rename[ours]
		switch {
		case err != nil:
			return fmt.Errorf("rename %s: %w", ours, err)
		case ours == "" || len(from) == 0:
			return fmt.Errorf("rename %s=%s: expected a name, and a JSON Pointer such as /title/rendered", ours, r.Lift[ours])
		}
		if lifted[ours] = from; len(from) == 1 {
			continue
		}
		if word := r.writes(ours); word != "" && !plain {
			return fmt.Errorf("rename %s=%s: %s names it too, but what a pointer alone names is not written; expected a name for bodies besides, such as rename %s=%s %s=%s",
				ours, r.Lift[ours], word, ours, r.Lift[ours], ours, ours)
		}
		for _, other := range s.places.lift {
			if n := min(len(other.From), len(from)); slices.Equal(other.From[:n], from[:n]) {
				return fmt.Errorf("rename %s=%s: %s=%s is in the same place or around it, expected places apart", ours, r.Lift[ours], other.Name, other.From)
			}
		}
		s.places.lift = append(s.places.lift, splice.Lift{Name: ours, From: from, Values: s.words[r.their(ours)]})
	}
	return s.nameAnswers(r, lifted)
}

func (s *shape) compileDrops(r *Resource) error {
	for i, text := range r.Drop {
		name := text
		if isPointer(text) {
			at, err := splice.ParsePointer(text)
			if err != nil {
				return fmt.Errorf("drop: %w", err)
			}
			if len(at) > 1 {
				s.places.dropAt = append(s.places.dropAt, at)
			}
			name = at[0]
			if len(at) > 1 {
				name = ""
			}
		} else if text == "" {
			return fmt.Errorf("drop: expected a name such as _links, or a pointer such as /meta/debug")
		}
		if slices.Contains(r.Drop[:i], text) {
			return fmt.Errorf("drop %s is given twice", text)
		}
		if name == "" {
			continue
		}
		if s.names[name] != "" || s.words[name] != nil {
			return fmt.Errorf("drop %s: rename or values names it too, expected one of both", text)
		}
		s.places.drop = append(s.places.drop, name)
	}
	return nil
}

// writes is the word that expects a member in bodies; "" for none.
func (r *Resource) writes(field string) string {
	switch {
	case slices.Contains(r.Replace, field):
		return "replace"
	case slices.Contains(r.Batch, field):
		return "batch"
	case slices.ContainsFunc(r.Validate, func(rule validate.Rule) bool {
		return !rule.Readonly && (rule.Field == field || strings.HasPrefix(rule.Field, "/"+field+"/"))
	}):
		return "validate"
	}
	return ""
}

// readOnly reports whether a member is taken from a pointer in answers, and has no name for
// bodies.
func (r *Resource) readOnly(field string) bool {
	_, lifted := r.Lift[field]
	_, named := r.Rename[field]
	return lifted && !named
}

// edit adds to a plan what becomes of the resource's members in answers.
func (p *places) edit(c splice.Config) splice.Config {
	c.Rename, c.Values, c.Drop, c.DropAt, c.Lift = p.names, p.words, p.drop, p.dropAt, p.lift
	return c
}

// changes reports whether there is anything to do.
func (p *places) changes() bool {
	return len(p.names) > 0 || len(p.words) > 0 || len(p.drop) > 0 || len(p.dropAt) > 0 || len(p.lift) > 0
}

// checkWrap checks the name of the member that bodies are put into.
func (r *Resource) checkWrap() error {
	if isPointer(r.Wrap) || unfit(r.Wrap) {
		return fmt.Errorf("wrap %s: expected the name of one member, such as article", r.Wrap)
	}
	return nil
}

// wrapped puts the members of a body into one.
func (m members) wrapped(name string) members {
	if name == "" {
		return m
	}
	return members{{Name: name, Value: m.json()}}
}
