package grant

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// An exchange moves its code through two compare-and-swaps on one record:
//
//	issued -> claimed(attempt)   decides who redeems the code
//	claimed(attempt) -> used     says that the claimant knows it won, and answers 200
//
// It answers 200 if and only if it knows that its claim took effect. Two answers of 200 are impossible: while the
// record says claimed(A), only A's own node changes it, to used when A answered, or back to issued when A failed.
//
// An honest client should not lose its grant because of our fault. A claim can take effect while its reply is lost,
// and if the record cannot be read either, the node must answer 503: it does not know whether another exchange won.
// The record then says claimed although nothing was delivered. Another node cannot tell this from a claim whose
// tokens are being delivered, so it neither redeems the code nor treats the request as a replay: it waits briefly,
// then answers 503. The node that failed releases the claim in the background (see unsettled.go), and the next retry
// succeeds at any node. If the node dies first, the retry fails when the code expires.
//
// The second step cannot have this problem: when it fails the claim is still known to be ours, so the answer is 200
// and the use is recorded in the background. Until then a replay is answered 503, and after the code's life it ends
// the grant, as any replay does.

var (
	errCodeRevoked = errors.New("grant: the authorization code was revoked while it was redeemed")
	errCodeClaimed = errors.New("grant: another exchange holds the authorization code and has not recorded its outcome")
)

const (
	// maxLooks and lookEvery bound how long a request waits for the exchange that holds its code: 225 ms and the time
	// of the reads. An exchange records its outcome within milliseconds, but on a busy machine reads become slow as
	// well, so looks are counted rather than time.
	maxLooks  = 10
	lookEvery = 25 * time.Millisecond
	// useTime bounds the second step, which no longer changes the answer.
	useTime = time.Second
)

// redeemCode creates the family, claims the code for it and records the use. In this order a replay always finds a
// family to kill; a family whose code is never redeemed has no tokens.
func (g *codes) redeemCode(ctx context.Context, record store.Record, code store.Code, refreshes bool) (string, error) {
	now := g.Now()
	family := store.Grant{
		ID: code.Grant, Dialect: g.begins, Client: code.Client, Subject: code.Subject,
		Scopes: code.Scopes, AuthTime: code.AuthTime, Session: code.Session,
		Resources: code.Resources, Epochs: code.Epochs,
		IssuedAt: now, Expires: now.Add(g.Access), Generation: 1, RotatedAt: now,
	}
	named := code.Grant == store.GrantOf(g.dialect, record.ID)
	if named {
		family.Bound = code.Binding()
	} else {
		family.Code = record.ID
	}
	var token string
	if refreshes {
		var err error
		if token, err = g.firstRefresh(ctx, &family); err != nil {
			return "", err
		}
	}
	if err := g.beginFamily(ctx, family); err != nil {
		return "", err
	}
	keep := record.Expires
	if !named { // a code of an earlier release, which only its own record remembers
		keep = family.Expires.Add(g.Access)
	}
	c, err := g.claimCode(ctx, record, code, keep)
	if err != nil {
		return "", err
	}
	if err := g.recordUse(ctx, c); err != nil {
		return "", err
	}
	return token, nil
}

// claim is an exchange's hold on a code.
type claim struct {
	record   store.Record
	code     store.Code
	attempt  string
	released time.Time // when the record expires if the claim is released
}

// claimCode claims the code for this exchange. The record is kept until keep, and never shorter than before: while the
// form that made the code can be sent again, an absent record would let the same code be made again. Afterwards a replay
// is recognized by the code's family.
func (g *codes) claimCode(ctx context.Context, record store.Record, code store.Code, keep time.Time) (claim, error) {
	c := claim{record: record, code: code, attempt: secret.ID(), released: record.Expires}
	for range tries {
		claimed, ok := code.Claim(c.attempt)
		switch {
		case ok:
		case code.State == store.CodeRevoked:
			// Whoever revoked the code may have looked for families before this one existed.
			return claim{}, g.killFamily(ctx, code.Grant, errCodeRevoked)
		default:
			return claim{}, g.killFamily(ctx, code.Grant, errCodeReplay)
		}
		if keep.After(record.Expires) {
			record.Expires = keep
		}
		written, swapErr := store.Swap(ctx, g.Store, record, &claimed)
		if swapErr == nil {
			c.record, c.code = written, claimed
			return c, nil
		}
		// The record tells whether the claim took effect all the same.
		var err error
		if record, code, err = g.readCode(ctx, record.Key); err != nil {
			g.addUnsettled(c, false)
			return claim{}, err
		}
		if code.ClaimedBy(c.attempt) {
			c.record, c.code = record, code
			return c, nil
		}
		if code.State == store.CodeIssued && !store.IsAnswer(swapErr) {
			// The claim was lost, or is still on its way and may take effect later.
			g.addUnsettled(c, false)
			return claim{}, swapErr
		}
		if record, code, err = g.awaitOutcome(ctx, record, code); err != nil {
			return claim{}, err
		}
	}
	return claim{}, errContended
}

// recordUse marks the code used. An error means that no tokens may be delivered.
func (g *codes) recordUse(ctx context.Context, c claim) error {
	if err := ctx.Err(); err != nil {
		// The client has hung up: nothing is delivered, and it may retry.
		g.addUnsettled(c, false)
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), useTime)
	defer cancel()
	used, _ := c.code.Use(c.attempt)
	_, err := store.Swap(ctx, g.Store, c.record, &used)
	switch {
	case err == nil:
		return nil
	case !store.IsAnswer(err):
		g.addUnsettled(c, true)
		return nil
	}
	// Only a revocation can have changed a claimed code.
	_, code, err := g.readCode(ctx, c.record.Key)
	switch {
	case err != nil:
		return err
	case code.State == store.CodeUsed: // only this exchange does that to a code that it holds
		return nil
	}
	return g.killFamily(ctx, code.Grant, errCodeRevoked)
}

// awaitOutcome waits while another exchange holds the code, and returns the record as it is then. A code that expired
// while claimed is returned claimed: that is a replay. A claim that this node knows to have failed is taken over at
// once.
func (g *codes) awaitOutcome(ctx context.Context, record store.Record, code store.Code) (store.Record, store.Code, error) {
	for look := 1; code.State == store.CodeClaimed; look++ {
		if g.undelivered(record.ID, code.Attempt) {
			released, _ := code.Release(code.Attempt)
			return record, released, nil
		}
		if !g.Now().Before(code.Expires) {
			break
		}
		if look == maxLooks {
			return record, code, errCodeClaimed
		}
		if err := store.Sleep(ctx, lookEvery); err != nil {
			return record, code, err
		}
		var err error
		if record, code, err = g.readCode(ctx, record.Key); err != nil {
			return record, code, err
		}
	}
	return record, code, nil
}
