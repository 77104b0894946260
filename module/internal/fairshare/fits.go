package fairshare

// Fits applies the rule of [Places] to places that are counted elsewhere: it reports whether a
// source may take one more of limit places, or of the reserve of half as many. The sources in held
// have one place each, in the order in which they took it.
func Fits(limit int, held []Source, s Source) bool {
	h := share{limit: limit}
	for _, o := range held {
		if h.open.total < limit {
			h.open.addUnits(o, 1)
		} else {
			h.reserve.addUnits(o, 1)
		}
	}
	ok, _ := h.takeUnits(s, 1)
	return ok
}
