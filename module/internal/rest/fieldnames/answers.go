package fieldnames

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gatehouse/gatehouse/module/internal/rest/splice"
	"github.com/gatehouse/gatehouse/module/rest/resource"
)

// answerEdits are the edits of answers. They differ from those of bodies in members that are read from
// inside the resource, and in members that clients do not get.
type answerEdits struct {
	names  map[string]string            // the upstream's -> ours
	words  map[string]map[string]string // the upstream's member -> its value -> our word
	drop   []string
	dropAt []splice.Pointer
	lift   []splice.Lift
}

// compileAnswers compiles the edits of answers. The names and values of bodies must be compiled.
func (n *Names) compileAnswers() error {
	r := n.config
	n.answers = answerEdits{names: n.ours, words: n.words}
	if err := n.compileDrops(); err != nil || len(r.Lift) == 0 {
		return err
	}
	n.answers.names, n.answers.words = maps.Clone(n.ours), maps.Clone(n.words)
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
		if word := r.WrittenBy(ours); word != "" && !plain {
			return fmt.Errorf("rename %s=%s: %s names it too, but what a pointer alone names is not written; expected a name for bodies besides, such as rename %s=%s %s=%s",
				ours, r.Lift[ours], word, ours, r.Lift[ours], ours, ours)
		}
		for _, other := range n.answers.lift {
			if n := min(len(other.From), len(from)); slices.Equal(other.From[:n], from[:n]) {
				return fmt.Errorf("rename %s=%s: %s=%s is in the same place or around it, expected places apart", ours, r.Lift[ours], other.Name, other.From)
			}
		}
		n.answers.lift = append(n.answers.lift, splice.Lift{Name: ours, From: from, Values: n.words[r.Their(ours)]})
	}
	return n.nameAnswers(lifted)
}

func (n *Names) compileDrops() error {
	r := n.config
	for i, text := range r.Drop {
		at := splice.Pointer{text}
		if resource.IsPointer(text) {
			var err error
			if at, err = splice.ParsePointer(text); err != nil {
				return fmt.Errorf("drop: %w", err)
			}
		}
		switch name := at[0]; {
		case text == "":
			return fmt.Errorf("drop: expected a name such as _links, or a pointer such as /meta/debug")
		case slices.Contains(r.Drop[:i], text):
			return fmt.Errorf("drop %s is given twice", text)
		case len(at) > 1:
			n.answers.dropAt = append(n.answers.dropAt, at)
		case n.ours[name] != "" || n.words[name] != nil:
			return fmt.Errorf("drop %s: rename or values names it too, expected one of both", text)
		case name != "":
			n.answers.drop = append(n.answers.drop, name)
		}
	}
	return nil
}

// EditAnswers adds the edits of the resource's members in answers to a plan.
func (n *Names) EditAnswers(c splice.Config) splice.Config {
	p := &n.answers
	c.Rename, c.Values, c.Drop, c.DropAt, c.Lift = p.names, p.words, p.drop, p.dropAt, p.lift
	return c
}

// Dropped returns the names of members that clients do not get, for those inside others the last step of the place.
func (n *Names) Dropped() []string {
	names := slices.Clone(n.answers.drop)
	for _, at := range n.answers.dropAt {
		names = append(names, at[len(at)-1])
	}
	return names
}

// Edited returns the upstream's names of members that clients get in another form or not at all.
func (n *Names) Edited() []string {
	names := n.Dropped()
	for _, l := range n.answers.lift {
		names = append(names, l.From[0])
	}
	return slices.AppendSeq(slices.AppendSeq(names, maps.Keys(n.answers.names)), maps.Keys(n.answers.words))
}

// Sought returns the places inside the resource that the words name, by the upstream's names.
func (n *Names) Sought() (places []splice.Sought) {
	p := &n.answers
	add := func(hidden bool, at ...splice.Pointer) {
		for _, at := range at {
			places = append(places, splice.Sought{At: at, Hidden: hidden})
		}
	}
	for _, name := range p.drop {
		add(true, splice.Pointer{name})
	}
	add(true, p.dropAt...)
	for _, l := range p.lift {
		add(false, l.From)
	}
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(p.names)), slices.Sorted(maps.Keys(p.words))) {
		add(false, splice.Pointer{name})
	}
	return places
}

// ChangeAnswers reports whether answers have other names or values for clients.
func (n *Names) ChangeAnswers() bool {
	p := &n.answers
	return len(p.names) > 0 || len(p.words) > 0 || len(p.drop) > 0 || len(p.dropAt) > 0 || len(p.lift) > 0
}
