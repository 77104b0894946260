package authserver

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

const useTicketCode = "ticket code"

// errUndelivered is what becomes of a confirmation that is worth nothing any more: the code
// is used up or has expired, or who confirmed has signed out since.
var errUndelivered = refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")

// ticketCode is the code that a confirmed ticket comes to: the same at every node.
func ticketCode(keys *secret.Keys, id, subject string) string {
	return base64.RawURLEncoding.EncodeToString(keys.MAC(useTicketCode, []byte(id), []byte(subject)))
}

// deliver gives the browser that began it the code of a confirmed ticket. A browser that
// lost the answer gets the same code again as long as it can be redeemed; its life begins
// with the first.
func (s *signIn) deliver(r *http.Request, id string) (code string, err error) {
	ctx := r.Context()
	t, err := s.CrossDevice.Deliver(ctx, id)
	switch {
	case errors.Is(err, crossdevice.ErrGone), errors.Is(err, crossdevice.ErrExpired), errors.Is(err, crossdevice.ErrUnconfirmed):
		return "", errUndelivered
	case err != nil:
		return "", err
	}
	if _, err := s.ticketClient(ctx, t); err != nil {
		return "", err
	}
	if err := s.unlessClientLeft(ctx, t); err != nil {
		return "", err
	}
	keys, err := s.Keys(ctx)
	if err != nil {
		return "", err
	}
	code = ticketCode(keys, id, t.Subject)
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(code)}
	v, err := s.beginLife(ctx, key, t)
	if err != nil {
		return "", err
	}
	switch stands, err := s.stands(ctx, v.Client, v.Subject, t.Scanner, v.Epochs); {
	case err != nil:
		return "", err
	case stands:
		return code, nil
	}
	if err := s.takeBack(ctx, key); err != nil {
		return "", err
	}
	return "", errUndelivered
}

// beginLife lets the code under key be redeemed from the delivery of its ticket on. One that
// is gone, used, over or taken back since the confirmation is errUndelivered: nothing is
// made here that an end has not seen.
func (s *signIn) beginLife(ctx context.Context, key store.Key, t store.Ticket) (v store.Code, err error) {
	begun := false
	_, err = store.Change(ctx, s.Store, store.Record{Key: key}, &v, func(record *store.Record) (bool, error) {
		if begun = false; record.Version == 0 {
			return false, errUndelivered
		}
		v, begun = v.Deliver(t.Delivered.Add(s.Lifetimes.Code))
		if v.State != store.CodeIssued || !s.Now().Before(v.Expires) {
			return false, errUndelivered
		}
		if end := v.Expires.Add(codeMargin); begun && end.After(record.Expires) {
			record.Expires = end
		}
		return begun, nil
	})
	if err == nil && begun {
		s.Log.Info("code issued", slog.String("client", v.Client), slog.String("subject", v.Subject))
	}
	return v, err
}

// unlessClientLeft refuses what was asked for a client that has left the configuration
// since, also when one of that id has come back: it begins anew.
func (s *signIn) unlessClientLeft(ctx context.Context, t store.Ticket) error {
	var v store.Vanished
	_, err := store.Read(ctx, s.Store, store.VanishedKey(t.Client), &v)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case !t.IssuedAt.After(v.At):
		return errUndelivered
	}
	return nil
}
