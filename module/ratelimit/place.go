package ratelimit

import (
	"fmt"
	"time"
)

// BySubject as the Place of a policy: all policies with it that a request falls under count it for the same
// subject, so that the counts of each subject can be kept anywhere.
const BySubject = "*"

// Counted is a policy and what it counts by: policies with equal By count a request for the same
// subject.
type Counted struct {
	Policy *Policy
	By     string
	// Common: there are few subjects, which many callers have in common.
	Common bool
}

// place is a set of policies whose counts must be kept together.
type place struct {
	joined *place // has the policies of this one too; nil: none
	name   string
	named  bool // its policies count some request for several subjects, or are common to several
}

func (p *place) whole() *place {
	for p.joined != nil {
		p = p.joined
	}
	return p
}

// AssignPlaces sets the Place of all policies of a configuration. Each of sets has the policies that
// one request may fall under, of one limiter. They belong together, and so do sets that share a
// policy. Their Place is [BySubject] if each set counts by one thing only, and else named after the
// first of the policies. Common policies are apart from the others of their set, if these count by one thing:
// their Place has a name, and that of the others remains BySubject.
func AssignPlaces(sets [][]Counted) {
	type counts struct {
		limiter, name string
		window        time.Duration
	}
	places := make(map[counts]*place)
	placeOf := func(p *Policy) *place {
		key := counts{p.Limiter, p.Name, p.Window}
		if places[key] == nil {
			places[key] = &place{name: fmt.Sprintf("%s:%d", p.Name, p.Window.Milliseconds())}
		}
		return places[key].whole()
	}
	changed := true
	join := func(set []Counted, named bool) {
		for _, c := range set {
			a, b := placeOf(set[0].Policy), placeOf(c.Policy)
			named := named || a.named || b.named || c.By != set[0].By
			if b.name < a.name { // whatever the order of the sets
				a, b = b, a
			}
			if a != b {
				b.joined, changed = a, true
			}
			if a.named != named {
				a.named, changed = named, true
			}
		}
	}
	for changed { // one set may join what another had apart
		changed = false
		for _, set := range sets {
			if common, own := divide(set); len(common) > 0 && len(own) > 0 && !placeOf(own[0].Policy).named {
				join(common, true)
				join(own, false)
			} else {
				join(set, false)
			}
		}
	}
	for _, set := range sets {
		for _, c := range set {
			c.Policy.Place = BySubject
			if p := placeOf(c.Policy); p.named {
				c.Policy.Place = p.name
			}
		}
	}
}

// divide returns the common policies of a set apart from the others, if these count by one thing.
func divide(set []Counted) (common, own []Counted) {
	for _, c := range set {
		switch {
		case c.Common:
			common = append(common, c)
		case len(own) > 0 && c.By != own[0].By:
			return nil, set
		default:
			own = append(own, c)
		}
	}
	return common, own
}
