package sql

import (
	"sync"

	"github.com/gatehouse/gatehouse/module/directory/password"
)

// remembered is how many users' kinds of hash are known at a time.
const remembered = 512

// usualKind is the cost of a sign-in as somebody whom nobody knows: that of the hashes
// which most of those have who tried of late. Each user counts once, so that trying one
// account again and again does not make its kind the usual one.
type usualKind struct {
	mu    sync.Mutex
	fixed bool
	made  *password.Parsed
	users map[string]password.Cost
	order []string // of users, as a ring
	next  int
}

func newUsualKind(fixed *password.Parsed) *usualKind {
	k := &usualKind{fixed: fixed != nil, users: make(map[string]password.Cost)}
	cost := password.Usual()
	if fixed != nil {
		cost = fixed.Cost()
	}
	k.setKind(cost)
	return k
}

func (k *usualKind) dummyHash() *password.Parsed {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.made
}

func (k *usualKind) recordKind(id string, cost password.Cost) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old, known := k.users[id]
	if k.fixed || known && old == cost {
		return
	}
	if !known {
		if len(k.order) < remembered {
			k.order = append(k.order, id)
		} else {
			delete(k.users, k.order[k.next])
			k.order[k.next] = id
			k.next = (k.next + 1) % remembered
		}
	}
	k.users[id] = cost
	count := make(map[password.Cost]int)
	for _, c := range k.users {
		count[c]++
	}
	most, _ := password.MostUsed(count)
	k.setKind(most)
}

func (k *usualKind) setKind(cost password.Cost) {
	if k.made != nil && k.made.Cost() == cost {
		return
	}
	if made, err := password.Parse(cost.Dummy()); err == nil {
		k.made = made
	}
}
