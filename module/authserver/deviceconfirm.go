package authserver

import (
	"context"
	"errors"
	"log/slog"

	"github.com/gatehouse/gatehouse/module/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// allowDevice stores what a device will redeem when its ticket is confirmed. It comes before
// the decision, so that no ticket is confirmed of which there is nothing to redeem; until
// then the grant does not look at it. Only the scanner's is stored: the record stays, and
// anybody else's would sign the device in as that one. Errors are crossdevice.ErrTaken and
// those of the store.
func (s *signIn) allowDevice(ctx context.Context, ticket store.Ticket, who *person) error {
	if ticket.Kind != store.TicketDevice || ticket.Scanner != who.digest || ticket.Subject != who.user.ID {
		return crossdevice.ErrTaken
	}
	now := s.Now()
	v := store.Code{
		State: store.CodeIssued, Dialect: store.DialectDevice,
		Client: ticket.Client, Subject: who.user.ID, Scopes: ticket.Scopes, Challenge: ticket.Challenge, Resources: ticket.Resources,
		AuthTime: who.session.AuthTime, IssuedAt: now, Expires: ticket.Ends, Session: who.digest, Grant: secret.ID(),
	}
	value, err := store.Encode(&v)
	if err != nil {
		return err
	}
	key := store.Key{Kind: store.KindCode, ID: ticket.Poller}
	_, err = s.Store.Create(ctx, store.Record{Key: key, Parent: who.user.ID, Value: value, Expires: ticket.Ends.Add(codeMargin)})
	switch {
	case errors.Is(err, store.ErrExists): // the form was sent twice
	case err != nil:
		return err
	default:
		s.Log.Info("device allowed", slog.String("client", ticket.Client), slog.String("subject", who.user.ID))
	}
	// Who signed out everywhere meanwhile has ended the codes that were there then.
	_, err = s.Store.Get(ctx, store.Key{Kind: store.KindSession, ID: who.digest})
	if errors.Is(err, store.ErrNotFound) {
		if err := s.takeBack(ctx, key); err != nil {
			return err
		}
		return crossdevice.ErrTaken
	}
	return err
}
