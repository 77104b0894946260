package authserver

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/module/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

const useTicketCode = "ticket code"

// errUndelivered is what becomes of a confirmation that is worth nothing any more: the code
// is used up or has expired, or who confirmed has signed out since.
var errUndelivered = page(http.StatusBadRequest, "already_answered", "")

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
	keys, err := s.Keys(ctx)
	if err != nil {
		return "", err
	}
	code = base64.RawURLEncoding.EncodeToString(keys.MAC(useTicketCode, []byte(id), []byte(t.Subject)))
	v := store.Code{
		State: store.CodeIssued, Dialect: store.DialectVariantB,
		Client: t.Client, Subject: t.Subject, Scopes: t.Scopes, RedirectURI: t.RedirectURI, Challenge: t.Challenge,
		AuthTime: t.AuthTime, IssuedAt: t.Delivered, Expires: t.Delivered.Add(s.Lifetimes.Code),
		Session: t.Scanner, Grant: secret.ID(),
	}
	if !s.Now().Before(v.Expires) { // a record that is gone must not come back with the same code
		return "", errUndelivered
	}
	value, err := store.Encode(&v)
	if err != nil {
		return "", err
	}
	expires := v.Expires
	if t.Ends.After(expires) {
		expires = t.Ends
	}
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(code)}
	_, err = s.Store.Create(ctx, store.Record{Key: key, Parent: t.Subject, Value: value, Expires: expires.Add(codeMargin)})
	switch {
	case errors.Is(err, store.ErrExists):
		err = s.stillOpen(r, key)
	case err == nil:
		s.Log.Info("code issued", slog.String("client", t.Client), slog.String("subject", t.Subject))
	}
	if err != nil {
		return "", err
	}
	return code, s.unlessSignedOut(ctx, t.Scanner, key)
}

// unlessSignedOut takes back what was stored under key while the session that allowed it
// was ended. Whoever ends sessions looks for codes afterwards, so one of the two sees the
// other.
func (s *signIn) unlessSignedOut(ctx context.Context, session string, key store.Key) error {
	_, err := s.Store.Get(ctx, store.Key{Kind: store.KindSession, ID: session})
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err := s.takeBack(ctx, key); err != nil {
		return err
	}
	return errUndelivered
}
