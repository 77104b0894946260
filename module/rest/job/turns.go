package job

import (
	"cmp"
	"maps"
	"slices"
)

// turns remembers in which order callers had a job started on this node. It contains only callers with unfinished jobs.
type turns struct {
	last map[mark]int // by caller, higher for later
	next int
}

// started records that a job of a caller was started.
func (t *turns) started(caller mark) {
	t.next++
	t.last[caller] = t.next
}

// sort returns marks, which are sorted by age, in the order in which their jobs start: everybody's oldest, then everybody's
// second, and so on, those of the caller first who has waited longest for a turn. Running jobs count, so a caller with many of
// them lets the others go first. Callers without a token are told apart by their addresses.
func (t *turns) sort(marks []mark) []mark {
	type place struct {
		mark
		before int // how many unfinished jobs of the same caller are older
		last   int
	}
	own := make(map[mark]int)
	places := make([]place, len(marks))
	for i, m := range marks {
		caller := m.caller()
		places[i] = place{m, own[caller], t.last[caller]}
		own[caller]++
	}
	maps.DeleteFunc(t.last, func(caller mark, _ int) bool { return own[caller] == 0 })
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(a.last, b.last)) })
	sorted := make([]mark, len(places))
	for i, p := range places {
		sorted[i] = p.mark
	}
	return sorted
}
