package password

import "sync"

// remembered is the number of users whose costs are known at a time.
const remembered = 512

// CommonCost knows the cost of the hashes that most users have, of those whose hashes were seen of late. A sign-in as
// somebody unknown must take that long. Each user counts once, so that trying one account again and again does not
// make its cost the common one. It is safe for concurrent use.
type CommonCost struct {
	mu    sync.Mutex
	fixed bool
	dummy *Parsed
	users map[string]Cost
	order []string // of users, as a ring
	next  int
}

// NewCommonCost begins with the cost of [Hash]. If fixed is not nil, its cost is the common one for ever.
func NewCommonCost(fixed *Parsed) *CommonCost {
	c := &CommonCost{fixed: fixed != nil, users: make(map[string]Cost)}
	cost := usual
	if fixed != nil {
		cost = fixed.Cost()
	}
	c.setDummy(cost)
	return c
}

// Dummy returns a hash of the common cost, for a sign-in without a user.
func (c *CommonCost) Dummy() *Parsed {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dummy
}

// Record says what the hash of a user costs. Quick ones do not count.
func (c *CommonCost) Record(id string, cost Cost) {
	if cost.Quick() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old, known := c.users[id]
	if c.fixed || known && old == cost {
		return
	}
	if !known {
		if len(c.order) < remembered {
			c.order = append(c.order, id)
		} else {
			delete(c.users, c.order[c.next])
			c.order[c.next] = id
			c.next = (c.next + 1) % remembered
		}
	}
	c.users[id] = cost
	count := make(map[Cost]int)
	for _, cost := range c.users {
		count[cost]++
	}
	most, _ := MostUsed(count)
	c.setDummy(most)
}

func (c *CommonCost) setDummy(cost Cost) {
	if c.dummy != nil && c.dummy.Cost() == cost {
		return
	}
	if made, err := Parse(cost.Dummy()); err == nil {
		c.dummy = made
	}
}
