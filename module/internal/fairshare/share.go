package fairshare

import "net/netip"

// usage counts units by network. It holds at most four networks per unit.
type usage struct {
	total int
	of    map[netip.Prefix]int
}

func (u *usage) addUnits(s Source, n int) {
	if u.of == nil {
		u.of = make(map[netip.Prefix]int)
	}
	u.total += n
	for i := range s.steps() {
		g := s.groups[i]
		if u.of[g] += n; u.of[g] == 0 {
			delete(u.of, g)
		}
	}
}

// weightedLoad returns how much a source holds relative to its weight, taking the most loaded of
// its networks.
func (u *usage) weightedLoad(s Source) (most float64) {
	for i, step := range s.steps() {
		most = max(most, float64(u.of[s.groups[i]])/float64(step.weight))
	}
	return most
}

// share is a limit with its reserve, half as much again, and what each source holds.
type share struct {
	limit         int
	open, reserve usage
}

// takeUnits takes n units for the source, or none. reserved reports whether they came from the
// reserve.
func (h *share) takeUnits(s Source, n int) (ok, reserved bool) {
	switch {
	case h.open.total+n <= h.limit:
		h.open.addUnits(s, n)
		return true, false
	case h.fitsReserve(s, n):
		h.reserve.addUnits(s, n)
		return true, true
	}
	return false, false
}

// fitsReserve reports whether a source may take n units of the reserve: it holds nothing at all,
// and the units fit into the quotas of its networks.
func (h *share) fitsReserve(s Source, n int) bool {
	size := h.limit / 2
	if h.heldBy(s) > 0 || h.reserve.total+n > size {
		return false
	}
	for i, step := range s.steps()[1:] {
		if h.reserve.of[s.groups[i+1]]+n > max(size/step.part, step.least) {
			return false
		}
	}
	return true
}

func (h *share) giveBack(s Source, n int, reserved bool) {
	if reserved {
		h.reserve.addUnits(s, -n)
		return
	}
	h.open.addUnits(s, -n)
}

func (h *share) heldBy(s Source) int { return h.open.of[s.address()] + h.reserve.of[s.address()] }
