package fairshare

// Fits is [Places] for what is counted elsewhere: it reports whether a source may have one
// more of so many places, or of half as many in reserve, where held have one each, the
// earliest first.
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
