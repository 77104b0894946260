package authserver

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

// allow stores what will be redeemed when a ticket is confirmed: by a device with its
// device_code, by a site with the code that the browser is given. It comes before the
// decision, so that no ticket is confirmed of which there is nothing to redeem, and nothing
// that is confirmed is out of sight of who ends what was allowed; until then nobody looks at
// it. Only the scanner's is stored: the record stays, and anybody else's would sign them in
// as that one. Errors are crossdevice.ErrTaken and those of the store.
func (s *signIn) allow(ctx context.Context, keys *secret.Keys, a approval) error {
	t, who := a.ticket, a.who
	if t.Scanner != who.digest || t.Subject != who.user.ID {
		return crossdevice.ErrTaken
	}
	if err := s.takeCode(who.user.ID); err != nil {
		return err
	}
	pair, err := ending.PairEpoch(ctx, s.Store, t.Client, who.user.ID) // before it is allowed
	if err != nil {
		return err
	}
	v := store.Code{
		State: store.CodeIssued, Dialect: store.DialectDevice,
		Client: t.Client, Subject: who.user.ID, Scopes: t.Scopes, RedirectURI: t.RedirectURI, Challenge: t.Challenge, Resources: t.Resources,
		AuthTime: who.session.AuthTime, IssuedAt: s.Now(), Expires: t.Ends, Session: who.digest, Grant: secret.ID(),
		Epochs: store.Epochs{Subject: who.session.Epoch, Pair: pair},
	}
	key := store.Key{Kind: store.KindCode, ID: t.Poller}
	expires := t.Ends
	if t.Kind == store.TicketScan {
		key.ID = secret.Digest(ticketCode(keys, a.id, who.user.ID))
		v.Dialect, v.Expires = store.DialectVariantB, time.Time{} // it lives from its delivery
		expires = t.Ends.Add(s.Lifetimes.Code)
	}
	value, err := store.Encode(&v)
	if err != nil {
		return err
	}
	_, err = s.Store.Create(ctx, store.Record{Key: key, Parent: who.user.ID, Value: value, Expires: expires.Add(codeMargin)})
	switch {
	case errors.Is(err, store.ErrExists): // the form was sent twice
	case err != nil:
		return err
	case t.Kind == store.TicketDevice:
		s.Log.Info("device allowed", slog.String("client", t.Client), slog.String("subject", who.user.ID))
	}
	stands, err := s.stands(ctx, v.Client, v.Subject, v.Session, v.Epochs)
	if err != nil || stands {
		return err
	}
	if err := s.takeBack(ctx, key); err != nil {
		return err
	}
	return crossdevice.ErrTaken
}
