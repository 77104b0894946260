package authorize

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/store"
)

// grantCode makes the code, stores it and sends the browser back to the client. The same request
// sent twice finds its code: while that can still be redeemed the answer is repeated, for a
// browser that lost the first one; afterwards there is no other.
func (e *Endpoint) grantCode(w http.ResponseWriter, r *http.Request, b session.Browser, q *Request, who *session.SignedIn, epochs store.Epochs) error {
	now := e.Now()
	code := base64.RawURLEncoding.EncodeToString(q.code(b.Keys, who.User.ID))
	v := store.Code{
		State: store.CodeIssued, Dialect: q.dialect(),
		Client: q.Client, Subject: who.User.ID, Scopes: q.Scopes,
		RedirectURI: q.RedirectURI, Challenge: q.Challenge, Nonce: q.Nonce, Resources: q.Resources,
		AuthTime: who.Session.AuthTime, IssuedAt: now, Expires: now.Add(e.CodeLife),
		Session: who.Digest, Grant: secret.ID(), Epochs: epochs,
	}
	// If the record were gone before the sealed request has expired, the same request could
	// bring a code that was used back to life.
	expires := v.Expires
	if end := q.Created.Add(e.RequestLife); end.After(expires) {
		expires = end
	}
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(code)}
	err := e.Codes.Add(r.Context(), key, &v, expires)
	switch {
	case errors.Is(err, store.ErrExists):
		err = e.checkRedeemable(r.Context(), key)
	case err == nil:
		e.Log.Info("code issued", slog.String("client", q.Client), slog.String("subject", who.User.ID))
	}
	if err == nil {
		err = e.undoUnlessAllowed(r.Context(), q, who, epochs, func(ctx context.Context) error { return e.Codes.Revoke(ctx, key) })
	}
	if err != nil {
		return err
	}
	e.Answer(w, r, q.callback(), "code", code)
	return nil
}

// checkRedeemable reports an error unless the code under key can be redeemed.
func (e *Endpoint) checkRedeemable(ctx context.Context, key store.Key) error {
	answered := refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")
	var v store.Code
	_, err := store.Read(ctx, e.Store, key, &v)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return answered
	case err != nil:
		return err
	case v.State != store.CodeIssued || !e.Now().Before(v.Expires):
		return answered
	}
	ended, err := ending.Ended(ctx, e.Store, v.Subject, v.Client, v.Epochs)
	if err == nil && ended {
		err = answered
	}
	return err
}
