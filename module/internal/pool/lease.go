package pool

import (
	"errors"
	"sync/atomic"
)

// ErrGone answers a request that outlived its configuration and finds what it
// needs closed.
var ErrGone = errors.New("the configuration this request began under has been unloaded")

// Lease is a loaded configuration's hold on pooled resources. The configuration is
// one holder and every request that runs under it another; the last to let go gives
// the resources back. Caddy cleans a configuration up while its requests are still
// in flight, so closing anything there would cut them off.
type Lease struct {
	holders atomic.Int64
	release func()
	left    func() // leave, made once for all requests
	// again takes the resources anew for one late request; its result gives them back.
	again func() (release func(), err error)
}

func newLease(release func(), again func() (func(), error)) *Lease {
	l := &Lease{release: release, again: again}
	l.holders.Store(1)
	l.left = l.Leave
	return l
}

// Enter holds the resources for a request. leave must be called once when it is done.
func (l *Lease) Enter() (leave func(), err error) {
	for {
		n := l.holders.Load()
		if n == 0 {
			// A slow earlier handler kept this request until after the clean-up.
			return l.again()
		}
		if l.holders.CompareAndSwap(n, n+1) {
			return l.left, nil
		}
	}
}

// Leave ends the configuration's own hold. It must be called once.
func (l *Lease) Leave() {
	if l.holders.Add(-1) == 0 {
		l.release()
	}
}
