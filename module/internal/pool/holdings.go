package pool

import (
	"errors"

	"github.com/caddyserver/caddy/v2"
)

// Holdings collects references to pooled values, so that each is given back once.
type Holdings struct {
	release []func()
	again   []func() (func(), error)
}

// Hold takes a reference to the pooled value under key, making it if there is none.
func Hold[T any](h *Holdings, pool *caddy.UsagePool, key any, construct func() (T, error)) (T, error) {
	var zero T
	v, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) {
		v, err := construct()
		if err != nil {
			return nil, err
		}
		return pooled[T]{v}, nil
	})
	if err != nil {
		return zero, err
	}
	give := func() { _, _ = pool.Delete(key) }
	p, ok := v.(pooled[T])
	if !ok {
		give()
		return zero, errors.New("a pool holds a value of another type")
	}
	h.release = append(h.release, give)
	h.again = append(h.again, func() (func(), error) {
		// Either the value still lives under a newer configuration, or it is put back
		// for this request alone: pooled values open lazily, also for a second time.
		now, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) { return p, nil })
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
	for i := len(h.release) - 1; i >= 0; i-- {
		h.release[i]()
	}
	h.release = nil
}

// Lease turns the references into a lease, which gives them back from here on.
func (h *Holdings) Lease() *Lease {
	held, again := Holdings{release: h.release}, h.again
	h.release = nil
	return newLease(held.GiveBack, func() (func(), error) {
		var late Holdings
		for _, a := range again {
			give, err := a()
			if err != nil {
				late.GiveBack()
				return nil, err
			}
			late.release = append(late.release, give)
		}
		return late.GiveBack, nil
	})
}
