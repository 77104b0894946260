// Package pool keeps what several configurations share open for as long as one of them, or a
// request that runs under one, needs it. It knows Caddy's usage pools and nothing of what is in them.
package pool

import (
	"errors"
	"reflect"
	"slices"

	"github.com/caddyserver/caddy/v2"
)

// shared has the values of all configurations, by type and key.
var shared = caddy.NewUsagePool()

type typedKey struct {
	of  reflect.Type
	key any
}

// Holdings collects references to pooled values, so that each is given back once.
type Holdings struct {
	release []func()
	again   []func() (func(), error)
}

// Hold takes a reference to the value of type T under key, and constructs it if there is none. The
// key MUST contain everything the value is made from, so that no configuration gets a value
// that does not fit it.
func Hold[T any](h *Holdings, key any, construct func() (T, error)) (T, error) {
	at := typedKey{reflect.TypeFor[T](), key}
	var zero T
	v, _, err := shared.LoadOrNew(at, func() (caddy.Destructor, error) {
		v, err := construct()
		if err != nil {
			return nil, err
		}
		return pooled[T]{v}, nil
	})
	if err != nil {
		return zero, err
	}
	give := func() { _, _ = shared.Delete(at) }
	p, ok := v.(pooled[T])
	if !ok {
		give()
		return zero, errors.New("the pool holds a value of another type")
	}
	h.release = append(h.release, give)
	h.again = append(h.again, func() (func(), error) {
		// Either the value still lives under a newer configuration, or it is put back
		// for this request alone: pooled values open lazily, also for a second time.
		now, _, err := shared.LoadOrNew(at, func() (caddy.Destructor, error) { return p, nil })
		if err != nil {
			return nil, err
		}
		if now, ok := now.(pooled[T]); !ok || any(now.value) != any(p.value) {
			give()
			return nil, ErrGone
		}
		return give, nil
	})
	return p.value, nil
}

// pooled gives every value the destructor that the pool asks for.
type pooled[T any] struct{ value T }

func (p pooled[T]) Destruct() error {
	if d, ok := any(p.value).(caddy.Destructor); ok {
		return d.Destruct()
	}
	return nil
}

// GiveBack gives back every reference, the latest first. A second call does nothing.
func (h *Holdings) GiveBack() {
	for _, give := range slices.Backward(h.release) {
		give()
	}
	h.release = nil
}

// takeAgain takes all references anew, for one late request; give returns them.
func (h *Holdings) takeAgain() (give func(), err error) {
	var late Holdings
	for _, again := range h.again {
		give, err := again()
		if err != nil {
			late.GiveBack()
			return nil, err
		}
		late.release = append(late.release, give)
	}
	return late.GiveBack, nil
}

// Lease turns the references into a lease, which gives them back from here on.
func (h *Holdings) Lease() *Lease {
	l := &Lease{held: *h}
	h.release = nil
	l.holders.Store(1)
	l.left = l.Leave
	return l
}
