package pool

import (
	"errors"
	"sync/atomic"
)

// ErrGone refuses a request that outlived its configuration and finds what it needs closed.
var ErrGone = errors.New("the configuration this request began under has been unloaded")

// Lease is a loaded configuration's hold on pooled resources. The configuration is
// one holder and every request that runs under it another; the last to let go gives
// the resources back. Caddy cleans a configuration up while its requests are still
// in flight, so closing anything there would cut them off.
type Lease struct {
	holders atomic.Int64
	held    Holdings
	left    func() // Leave, made once for all requests
}

// Enter holds the resources for a request. The caller MUST call leave once when it is done.
func (l *Lease) Enter() (leave func(), err error) {
	for {
		n := l.holders.Load()
		if n == 0 {
			// A slow earlier handler kept this request until after the clean-up.
			return l.held.takeAgain()
		}
		if l.holders.CompareAndSwap(n, n+1) {
			return l.left, nil
		}
	}
}

// Leave ends the configuration's own hold. The caller MUST call it once.
func (l *Lease) Leave() {
	if l.holders.Add(-1) == 0 {
		l.held.GiveBack()
	}
}
