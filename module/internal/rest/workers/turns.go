package workers

import (
	"cmp"
	"maps"
	"slices"
)

// turns remembers since when callers wait for a turn on this node. It contains only callers with unfinished jobs.
type turns struct {
	last map[Mark]int // by caller, higher for later
	next int
}

// started records that a job of a caller was started.
func (t *turns) started(caller Mark) {
	t.next++
	t.last[caller] = t.next
}

// sort returns marks, which are sorted by age, in the order in which their jobs start: everybody's oldest, then everybody's
// second, and so on. Running jobs count, so a caller with many of them lets the others go first. Among equals, the caller goes
// first who has waited longest since coming or since a job on this node ended. here reports whether a job runs on this node.
// Callers without a token are told apart by their addresses, or networks.
func (t *turns) sort(marks []Mark, here func(id string) bool) []Mark {
	type place struct {
		Mark
		before int // how many unfinished jobs of the same caller are older
		last   int // of the caller
	}
	t.note(marks, here)
	own := make(map[Mark]int)
	places := make([]place, len(marks))
	for i, m := range marks {
		caller := m.Caller()
		places[i] = place{m, own[caller], t.last[caller]}
		own[caller]++
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.before, b.before), cmp.Compare(a.last, b.last)) })
	sorted := make([]Mark, len(places))
	for i, p := range places {
		sorted[i] = p.Mark
	}
	return sorted
}

// note puts those who came behind those who wait, and those with a running job behind both.
func (t *turns) note(marks []Mark, here func(id string) bool) {
	waiting := make(map[Mark]bool) // false for those with a running job
	for _, m := range marks {
		caller := m.Caller()
		if before, seen := waiting[caller]; !seen || before {
			waiting[caller] = !here(m.ID)
		}
		if _, known := t.last[caller]; !known {
			t.last[caller] = t.next
		}
	}
	t.next++
	maps.DeleteFunc(t.last, func(caller Mark, _ int) bool { _, unfinished := waiting[caller]; return !unfinished })
	for caller, waits := range waiting {
		if !waits {
			t.last[caller] = t.next
		}
	}
}
