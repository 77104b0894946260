package fairshare

import "sync"

// Places divides a number of concurrent places among sources. It is safe for concurrent use.
type Places struct {
	mu    sync.Mutex
	share share
}

// NewPlaces returns limit places, and half as many in reserve.
func NewPlaces(limit int) *Places { return &Places{share: share{limit: limit}} }

// Enter takes a place, which the caller must give back by calling leave. leave is nil if no place
// was taken. most is the maximum for the address itself (IPv6: its /64); full reports that the
// address holds fewer and there is still no place for it.
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
