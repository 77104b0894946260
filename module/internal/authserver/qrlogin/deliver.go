package qrlogin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/authcode"
	"github.com/gatehouse/gatehouse/module/internal/authserver/confirm"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// errUndelivered refuses a confirmation that is no longer valid: the code was used or has expired, or the user who
// confirmed has signed out since.
var errUndelivered = refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")

// deliver returns the code of a confirmed ticket, for the browser that began it. A browser that lost the answer gets
// the same code again as long as it can be redeemed; its life begins with the first delivery.
func (e *Endpoint) deliver(r *http.Request, id string) (code string, err error) {
	ctx := r.Context()
	t, err := e.Tickets.Deliver(ctx, id)
	switch {
	case errors.Is(err, crossdevice.ErrGone), errors.Is(err, crossdevice.ErrExpired), errors.Is(err, crossdevice.ErrUnconfirmed):
		return "", errUndelivered
	case err != nil:
		return "", err
	}
	if _, err := e.Tickets.ClientOf(ctx, t); err != nil {
		return "", err
	}
	if err := e.checkClientStayed(ctx, t); err != nil {
		return "", err
	}
	keys, err := e.Keys(ctx)
	if err != nil {
		return "", err
	}
	code = confirm.TicketCode(keys, id, t.Subject)
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(code)}
	v, err := e.startCode(ctx, key, t)
	if err != nil {
		return "", err
	}
	switch allowed, err := e.Codes.StillAllowed(ctx, v.Client, v.Subject, t.Scanner, v.Epochs); {
	case err != nil:
		return "", err
	case allowed:
		return code, nil
	}
	if err := e.Codes.Revoke(ctx, key); err != nil {
		return "", err
	}
	return "", errUndelivered
}

// startCode lets the code under key be redeemed from the delivery of its ticket on. A code that is gone, used,
// expired or revoked since the confirmation is errUndelivered: nothing is made here that an end has not seen.
func (e *Endpoint) startCode(ctx context.Context, key store.Key, t store.Ticket) (v store.Code, err error) {
	begun := false
	_, err = store.Change(ctx, e.Codes.Store, store.Record{Key: key}, &v, func(record *store.Record) (bool, error) {
		if begun = false; record.Version == 0 {
			return false, errUndelivered
		}
		v, begun = v.Deliver(t.Delivered.Add(e.CodeLife))
		if v.State != store.CodeIssued || !e.Now().Before(v.Expires) {
			return false, errUndelivered
		}
		if end := v.Expires.Add(authcode.Margin); begun && end.After(record.Expires) {
			record.Expires = end
		}
		return begun, nil
	})
	if err == nil && begun {
		e.Log.Info("code issued", slog.String("client", v.Client), slog.String("subject", v.Subject))
	}
	return v, err
}

// checkClientStayed refuses what was asked for a client that has left the configuration since, also
// when a client of that id has come back: that one begins anew.
func (e *Endpoint) checkClientStayed(ctx context.Context, t store.Ticket) error {
	stayed, err := store.HasStayed(ctx, e.Codes.Store, t.Client, t.IssuedAt)
	if err == nil && !stayed {
		return errUndelivered
	}
	return err
}
