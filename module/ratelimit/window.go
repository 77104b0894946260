package ratelimit

const ring = Slots + 1

// State has the units of one key by the slot they were admitted in. Its size does not depend on
// the limit. The zero State is empty. All times are in milliseconds since the epoch, not
// negative, and one State is always used with one [Grain]. It is not safe for concurrent use.
type State struct {
	newest int64 // slot that units are added to
	oldest int64 // the first slot that holds a unit; newest if none does
	total  int64
	units  [ring]uint32 // slot k is at k mod ring; at most ring slots are alive at once
}

// Advance removes what no longer counts at now. Time that steps back by less than a window
// stands still until it has caught up, so that nothing is removed early; a longer step is a
// clock that was corrected, and the State starts empty.
func (s *State) Advance(g Grain, now int64) {
	slot := now / g.Slot
	if slot < s.newest {
		if s.newest-slot > ring {
			*s = State{newest: slot, oldest: slot}
			return
		}
		slot = s.newest
	}
	// The slot k with (k+1)*Slot + Window > now for the first time.
	alive := (now - g.Window) / g.Slot
	for s.total > 0 && s.oldest < alive {
		at := &s.units[s.oldest%ring]
		s.total -= int64(*at)
		*at = 0
		s.oldest++
	}
	s.newest = slot
	if s.total == 0 {
		s.oldest = slot
		return
	}
	for s.units[s.oldest%ring] == 0 {
		s.oldest++
	}
}

// Total returns the units that count, as of the last Advance.
func (s *State) Total() int64 { return s.total }

// Fits reports whether cost more units stay within limit.
func (s *State) Fits(limit, cost int64) bool { return cost <= limit && s.total <= limit-cost }

// Admit adds units at the time of the last Advance. They must fit, see [State.Fits].
func (s *State) Admit(cost int64) {
	s.total += cost
	s.units[s.newest%ring] += uint32(cost)
}

// Frees returns when at least n of the units will have ceased to count; n is at most their
// total. For n < 1 it is 0: at once.
func (s *State) Frees(g Grain, n int64) int64 {
	if n < 1 {
		return 0
	}
	k := s.oldest
	for ; ; k++ {
		n -= int64(s.units[k%ring])
		if n < 1 || k >= s.newest {
			return g.slotEnd(k)
		}
	}
}

// coverState adds as few units as possible so that s counts at least what o counts, at any time
// from now on. Both have been advanced to the same time.
func (s *State) coverState(o *State) {
	if o.total == 0 {
		return
	}
	newest := max(s.newest, o.newest)
	oldest := max(min(s.oldest, o.oldest), newest-Slots)
	c := State{newest: newest, oldest: newest}
	// Units in slot k and later, in s, in o, and in what covers both.
	var ours, theirs int64
	for k := newest; k >= oldest; k-- {
		ours += s.unitsIn(k)
		theirs += o.unitsIn(k)
		if k == oldest { // after the clock was set back, older ones may be left
			ours, theirs = s.total, o.total
		}
		if since := max(ours, theirs); since > c.total {
			c.units[k%ring] = uint32(since - c.total)
			c.total, c.oldest = since, k
		}
	}
	*s = c
}

// unitsIn returns the units of slot k.
func (s *State) unitsIn(k int64) int64 {
	if k < s.oldest || k > s.newest {
		return 0
	}
	return int64(s.units[k%ring])
}
