package idempotent

import (
	"sync"

	"github.com/gatehouse/gatehouse/module/store"
)

// maxDoubts bounds the memory for doubts: while the store is away, each request adds one.
const maxDoubts = 1024

// doubts are the attempts of which this node does not know whether their record was created. Nothing
// was sent for them: a repetition that finds the record of such an attempt may go on with it.
type doubts struct {
	mu  sync.Mutex
	all map[store.Key]string
}

// add remembers an attempt, in place of any other when there are too many.
func (d *doubts) add(at store.Key, attempt string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.all) >= maxDoubts {
		for other := range d.all {
			delete(d.all, other)
			break
		}
	}
	if d.all == nil {
		d.all = make(map[store.Key]string)
	}
	d.all[at] = attempt
}

// take reports whether the attempt was remembered, to one caller only.
func (d *doubts) take(at store.Key, attempt string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all[at] != attempt || attempt == "" {
		return false
	}
	delete(d.all, at)
	return true
}
