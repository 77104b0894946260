package confirm

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// allow stores what will be redeemed when a ticket is confirmed: by a device with its device_code, by a site with the
// code that the browser is given. It comes before the decision, so that a confirmed ticket always has something to
// redeem, and whoever ends what was allowed sees everything that is confirmed; until then nobody looks at it. Only
// what the user who scanned the code decides is stored: the record stays, and anybody else's would sign them in as
// that user. Errors are crossdevice.ErrTaken and those of the store.
func (e *Endpoint) allow(ctx context.Context, keys *secret.Keys, a approval) error {
	t, who := a.ticket, a.who
	if t.Scanner != who.Digest || t.Subject != who.User.ID {
		return crossdevice.ErrTaken
	}
	if err := e.Codes.Count(who.User.ID); err != nil {
		return err
	}
	pair, err := ending.PairEpoch(ctx, e.Codes.Store, t.Client, who.User.ID) // before it is allowed
	if err != nil {
		return err
	}
	v := store.Code{
		State: store.CodeIssued, Dialect: store.DialectDevice,
		Client: t.Client, Subject: who.User.ID, Scopes: t.Scopes, RedirectURI: t.RedirectURI, Challenge: t.Challenge, Resources: t.Resources,
		AuthTime: who.Session.AuthTime, IssuedAt: e.Now(), Expires: t.Ends, Session: who.Digest,
		Epochs: store.Epochs{Subject: who.Session.Epoch, Pair: pair},
	}
	key := store.Key{Kind: store.KindCode, ID: t.Poller}
	expires := t.Ends
	if t.Kind == store.TicketScan {
		key.ID = secret.Digest(TicketCode(keys, a.id, who.User.ID))
		v.Dialect, v.Expires = store.DialectVariantB, time.Time{} // it lives from its delivery
		expires = t.Ends.Add(e.CodeLife)
	}
	err = e.Codes.Add(ctx, key, &v, expires)
	switch {
	case errors.Is(err, store.ErrExists): // the form was sent twice
	case err != nil:
		return err
	case t.Kind == store.TicketDevice:
		e.Log.Info("device allowed", slog.String("client", t.Client), slog.String("subject", who.User.ID))
	}
	allowed, err := e.Codes.StillAllowed(ctx, v.Client, v.Subject, v.Session, v.Epochs)
	if err != nil || allowed {
		return err
	}
	if err := e.Codes.Revoke(ctx, key); err != nil {
		return err
	}
	return crossdevice.ErrTaken
}
