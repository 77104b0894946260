package grant

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/store"
)

// codes.unsettled finishes in the background what exchanges of this process could not write: releasing the code of an
// exchange that failed, or marking the code of one that was answered, until the code expires. An exchange beyond the
// cap leaves its code claimed, and a retry is answered 503 until the code expires.

// exchange names one attempt to redeem one code.
type exchange struct{ code, attempt string }

// outcome is what became of an exchange whose record does not say so yet.
type outcome struct {
	claim     claim
	delivered bool
}

// addUnsettled remembers an exchange until its code expires. Unless delivered, it MUST NOT be answered with tokens
// any more: the code may be redeemed again from now on.
func (g *codes) addUnsettled(c claim, delivered bool) {
	g.unsettled.add(exchange{c.record.ID, c.attempt}, outcome{c, delivered}, c.code.Expires.Sub(g.Now()))
}

// undelivered reports whether the exchange is known to have failed.
func (g *codes) undelivered(code, attempt string) bool {
	o, ok := g.unsettled.find(exchange{code, attempt})
	return ok && !o.delivered
}

// settleExchange makes the record say what became of the exchange. nil means that there is nothing left to do.
func (f *Families) settleExchange(ctx context.Context, _ exchange, o outcome) error {
	var code store.Code
	record, err := store.Read(ctx, f.Store, o.claim.record.Key, &code)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case code.State == store.CodeRevoked && o.delivered:
		_, _, err := f.endFamily(ctx, code.Grant)
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
		// The claim may still be on its way to the store. Written again, the record has another version, so that the
		// claim cannot take effect any more.
	default:
		return nil
	}
	if _, err = store.Swap(ctx, f.Store, record, &next); errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
