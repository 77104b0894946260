package fairshare

import "sync"

// Places are a number of things that may be under way at one time, divided among sources.
// They are safe for concurrent use.
type Places struct {
	mu    sync.Mutex
	share share
}

// NewPlaces makes so many places, and half as many in reserve.
func NewPlaces(limit int) *Places { return &Places{share: share{limit: limit}} }

// Enter takes a place, which must be given back with leave; that is nil when there was
// none. most is how many the address itself (IPv6: its /64) may have; full tells that
// it has fewer, and there is none for it all the same.
func (p *Places) Enter(s Source, most int) (leave func(), full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := p.share.heldBy(s)
	if held >= most {
		return nil, false
	}
	ok, reserved := p.share.takeUnits(s, 1)
	if !ok {
		return nil, true
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.share.giveBack(s, 1, reserved)
	}, false
}
