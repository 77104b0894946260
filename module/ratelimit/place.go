package ratelimit

import (
	"fmt"
	"time"
)

// BySubject as the Place of a policy: a request that falls under it falls only under policies that
// count it for the same subject, so that the counts of each subject can be kept anywhere.
const BySubject = "*"

// Counted is a policy and what it counts by: policies with equal By count a request for the same
// subject.
type Counted struct {
	Policy *Policy
	By     string
}

// place is a set of policies whose counts must be kept together.
type place struct {
	joined *place // has the policies of this one too; nil: none
	name   string
	mixed  bool // some request is counted for several subjects
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
// first of the policies.
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
	for _, set := range sets {
		for _, c := range set {
			a, b := placeOf(set[0].Policy), placeOf(c.Policy)
			mixed := a.mixed || b.mixed || c.By != set[0].By
			if b.name < a.name { // whatever the order of the sets
				a, b = b, a
			}
			if a != b {
				b.joined = a
			}
			a.mixed = mixed
		}
	}
	for _, set := range sets {
		for _, c := range set {
			c.Policy.Place = BySubject
			if p := placeOf(c.Policy); p.mixed {
				c.Policy.Place = p.name
			}
		}
	}
}
