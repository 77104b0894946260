package grant

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/store"
)

const (
	// maxUnsettled bounds the exchanges remembered. There are some only while the store
	// loses replies, and no more than were in progress when that began. Beyond the cap the
	// code stays claimed, and a retry is answered 503 until the code expires.
	maxUnsettled = 1024
	// settleEvery is the pause while the store fails, settleTime bounds one attempt.
	settleEvery = 100 * time.Millisecond
	settleTime  = 5 * time.Second
)

// unsettled finishes in the background what exchanges of this process could not write:
// releasing the code of an exchange that failed, or marking the code of one that was
// answered. A goroutine runs while there is something to do, until it is done or the code
// has expired.
type unsettled struct {
	families families

	mu      sync.Mutex
	pending map[exchange]outcome
	running bool
}

// exchange names one attempt to redeem one code.
type exchange struct{ code, attempt string }

// outcome is what became of an exchange whose record does not say so yet.
type outcome struct {
	claim     claim
	delivered bool
	ends      time.Time // by the clock of this process
}

func newUnsettled(f families) *unsettled {
	return &unsettled{families: f, pending: make(map[exchange]outcome)}
}

// add remembers an exchange until its code expires. Unless delivered, it MUST NOT be
// answered with tokens any more: the code may be redeemed again from now on.
func (u *unsettled) add(c claim, delivered bool) {
	left := c.code.Expires.Sub(u.families.Now())
	u.mu.Lock()
	defer u.mu.Unlock()
	if left <= 0 || len(u.pending) >= maxUnsettled {
		return
	}
	u.pending[exchange{c.record.ID, c.attempt}] = outcome{c, delivered, time.Now().Add(left)}
	if !u.running {
		u.running = true
		go u.run()
	}
}

// undelivered reports whether the exchange is known to have failed.
func (u *unsettled) undelivered(code, attempt string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	o, ok := u.pending[exchange{code, attempt}]
	return ok && !o.delivered
}

// run settles what is pending, and returns when nothing is.
func (u *unsettled) run() {
	for {
		all := u.due()
		if all == nil {
			return
		}
		for e, o := range all {
			ctx, cancel := context.WithTimeout(context.Background(), settleTime)
			err := u.settle(ctx, o)
			cancel()
			if err != nil {
				// The order of a map differs each time, so one damaged record does not
				// keep the others waiting.
				time.Sleep(settleEvery)
				break
			}
			u.mu.Lock()
			delete(u.pending, e)
			u.mu.Unlock()
		}
	}
}

// due returns what is pending, nil for nothing. Then the goroutine that asked has ended.
func (u *unsettled) due() map[exchange]outcome {
	u.mu.Lock()
	defer u.mu.Unlock()
	all, now := make(map[exchange]outcome, len(u.pending)), time.Now()
	for e, o := range u.pending {
		if now.Before(o.ends) {
			all[e] = o
		} else {
			delete(u.pending, e)
		}
	}
	if len(all) == 0 {
		u.running = false
		return nil
	}
	return all
}

// settle makes the record say what became of the exchange. nil means that there is nothing
// left to do.
func (u *unsettled) settle(ctx context.Context, o outcome) error {
	f := u.families
	var code store.Code
	record, err := store.Read(ctx, f.Store, o.claim.record.Key, &code)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case code.State == store.CodeRevoked && o.delivered:
		_, _, err := f.end(ctx, code.Grant)
		return err
	}
	next := code
	switch {
	case code.ClaimedBy(o.claim.attempt) && o.delivered:
		next, _ = code.Use(o.claim.attempt)
	case code.ClaimedBy(o.claim.attempt):
		next, _ = code.Release(o.claim.attempt)
		record.Expires = o.claim.released
	case code.State == store.CodeIssued && !o.delivered:
		// The claim may still be on its way to the store. Written anew, the record has
		// another version, so that the claim cannot take effect any more.
	default:
		return nil
	}
	if record.Value, err = store.Encode(&next); err != nil {
		return err
	}
	if _, err = f.Store.Swap(ctx, record); errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
