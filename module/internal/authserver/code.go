package authserver

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// codeMargin is how long the record of a code outlives everything that could ask for
// the same code again.
const codeMargin = 10 * time.Minute

// grantCode makes the code, stores it and sends the browser back to the client. The
// same request sent twice finds its code: while that can still be redeemed the answer
// is repeated, for a browser that lost the first one; afterwards there is no other.
func (s *signIn) grantCode(w http.ResponseWriter, r *http.Request, b browser, q *request, who *person, epochs store.Epochs) error {
	now := s.Now()
	code := base64.RawURLEncoding.EncodeToString(q.code(b.keys, who.user.ID))
	v := store.Code{
		State: store.CodeIssued, Dialect: q.dialect(),
		Client: q.Client, Subject: who.user.ID, Scopes: q.Scopes,
		RedirectURI: q.RedirectURI, Challenge: q.Challenge, Nonce: q.Nonce, Resources: q.Resources,
		AuthTime: who.session.AuthTime, IssuedAt: now, Expires: now.Add(s.Lifetimes.Code),
		Session: who.digest, Grant: secret.ID(), Epochs: epochs,
	}
	value, err := store.Encode(&v)
	if err != nil {
		return err
	}
	// Were the record gone before the sealed request has expired, the same request
	// could bring a code that was used back to life.
	expires := v.Expires
	if end := q.Created.Add(s.Lifetimes.Request); end.After(expires) {
		expires = end
	}
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(code)}
	_, err = s.Store.Create(r.Context(), store.Record{Key: key, Parent: who.user.ID, Value: value, Expires: expires.Add(codeMargin)})
	switch {
	case errors.Is(err, store.ErrExists):
		err = s.stillOpen(r, key)
	case err == nil:
		s.Log.Info("code issued", slog.String("client", q.Client), slog.String("subject", who.user.ID))
	}
	if err == nil {
		err = s.unlessTakenBack(r.Context(), q, who, epochs, func(ctx context.Context) error { return s.takeBack(ctx, key) })
	}
	if err != nil {
		return err
	}
	s.page.Answer(w, r, q.callback(), "code", code)
	return nil
}

// stillOpen reports an error unless the code under key can be redeemed.
func (s *signIn) stillOpen(r *http.Request, key store.Key) error {
	answered := refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")
	var v store.Code
	_, err := store.Read(r.Context(), s.Store, key, &v)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return answered
	case err != nil:
		return err
	case v.State != store.CodeIssued || !s.Now().Before(v.Expires):
		return answered
	}
	ended, err := ending.Ended(r.Context(), s.Store, v.Subject, v.Client, v.Epochs)
	if err == nil && ended {
		err = answered
	}
	return err
}
