package validate

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// maxSteps bounds how long width looks for the widest set.
const maxSteps = 1_000_000

// width is at how many places of a pattern a match may be at once. It costs as much time for each character of a text: with
// [a-z]{1,255}\d, which a match may begin at every letter, a text of a megabyte took 9 s.
func width(pattern string) float64 {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 1
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 1
	}
	w := widths{program: program, seen: make(map[string]bool)}
	w.add(w.reach([]uint32{uint32(program.Start)}, true)) //nolint:gosec // programs are short
	sample := w.sample()
	for len(w.open) > 0 {
		set := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		for _, c := range sample {
			if w.steps += len(set); w.steps > maxSteps {
				return float64(len(program.Inst))
			}
			next := []uint32{uint32(program.Start)} //nolint:gosec // programs are short
			for _, at := range set {
				if program.Inst[at].MatchRune(c) {
					next = append(next, program.Inst[at].Out)
				}
			}
			w.add(w.reach(next, false))
		}
	}
	return float64(max(1, w.widest))
}

// widths visits all sets of places where a match may be.
type widths struct {
	program *syntax.Prog
	seen    map[string]bool
	open    [][]uint32 // sets whose successors were not visited yet
	widest  int
	steps   int
}

// add adds a set.
func (w *widths) add(set []uint32) {
	w.widest = max(w.widest, len(set))
	var key []byte
	for _, at := range set {
		key = append(strconv.AppendUint(key, uint64(at), 36), ' ')
	}
	if !w.seen[string(key)] {
		w.seen[string(key)] = true
		w.open = append(w.open, set)
	}
}

// reach returns the places where a character is compared that follow from these places without one, in order. begin says
// that no character came before.
func (w *widths) reach(from []uint32, begin bool) (set []uint32) {
	visited := make([]bool, len(w.program.Inst))
	for len(from) > 0 {
		at := from[len(from)-1]
		from = from[:len(from)-1]
		if visited[at] {
			continue
		}
		visited[at] = true
		w.steps++
		switch i := &w.program.Inst[at]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			from = append(from, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			from = append(from, i.Out)
		case syntax.InstEmptyWidth:
			if begin || syntax.EmptyOp(i.Arg)&syntax.EmptyBeginText == 0 {
				from = append(from, i.Out)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			set = append(set, at)
		case syntax.InstMatch, syntax.InstFail:
		}
	}
	slices.Sort(set)
	return set
}

// sample returns a character of each kind that the program tells apart.
func (w *widths) sample() []rune {
	all := []rune{0, '\n', '\n' + 1}
	for _, i := range w.program.Inst {
		if i.Op != syntax.InstRune && i.Op != syntax.InstRune1 {
			continue
		}
		for n, bound := range i.Rune {
			all = append(all, bound)
			if n%2 == 1 || len(i.Rune) == 1 {
				all = append(all, bound+1)
			}
			if syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
				for other := unicode.SimpleFold(bound); other != bound; other = unicode.SimpleFold(other) {
					all = append(all, other)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(c rune) bool { return c > utf8.MaxRune })
}
