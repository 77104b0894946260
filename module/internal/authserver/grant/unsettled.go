package grant

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/store"
)

// unsettled finishes in the background what exchanges of this process could not write:
// releasing the code of an exchange that failed, or marking the code of one that was
// answered, until the code expires. Of an exchange beyond the cap the code stays claimed,
// and a retry is answered 503 until then.
type unsettled struct {
	families families
	backlog  *backlog[exchange, outcome]
}

// exchange names one attempt to redeem one code.
type exchange struct{ code, attempt string }

// outcome is what became of an exchange whose record does not say so yet.
type outcome struct {
	claim     claim
	delivered bool
}

func newUnsettled(f families) *unsettled {
	u := &unsettled{families: f}
	u.backlog = newBacklog(u.settle)
	return u
}

// add remembers an exchange until its code expires. Unless delivered, it MUST NOT be
// answered with tokens any more: the code may be redeemed again from now on.
func (u *unsettled) add(c claim, delivered bool) {
	u.backlog.add(exchange{c.record.ID, c.attempt}, outcome{c, delivered}, c.code.Expires.Sub(u.families.Now()))
}

// undelivered reports whether the exchange is known to have failed.
func (u *unsettled) undelivered(code, attempt string) bool {
	o, ok := u.backlog.find(exchange{code, attempt})
	return ok && !o.delivered
}

// settle makes the record say what became of the exchange. nil means that there is nothing
// left to do.
func (u *unsettled) settle(ctx context.Context, _ exchange, o outcome) error {
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
