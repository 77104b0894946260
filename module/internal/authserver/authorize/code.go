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

// grantCode makes and stores the code, and redirects the browser to the client. If the same request is sent twice, the
// answer is repeated while the code can be redeemed, for a browser that lost the first one; later there is no other.
func (p inProgress) grantCode(who *session.SignedIn, epochs store.Epochs) error {
	now := p.Now()
	code := base64.RawURLEncoding.EncodeToString(p.q.code(p.b.Keys, who.User.ID))
	v := store.Code{
		State: store.CodeIssued, Dialect: p.q.dialect(),
		Client: p.q.Client, Subject: who.User.ID, Scopes: p.q.Scopes,
		RedirectURI: p.q.RedirectURI, Challenge: p.q.Challenge, Nonce: p.q.Nonce, Resources: p.q.Resources,
		AuthTime: who.Session.AuthTime, IssuedAt: now, Expires: now.Add(p.CodeLife),
		Session: who.Digest, Epochs: epochs,
	}
	// If the record were gone before the sealed request has expired, the same request could
	// bring a code that was used back to life.
	expires := v.Expires
	if end := p.q.Created.Add(p.RequestLife); end.After(expires) {
		expires = end
	}
	key := store.Key{Kind: store.KindCode, ID: secret.Digest(code)}
	err := p.Codes.Add(p.r.Context(), key, &v, expires)
	switch {
	case errors.Is(err, store.ErrExists):
		err = p.checkRedeemable(p.r.Context(), key)
	case err == nil:
		p.Log.Info("code issued", slog.String("client", p.q.Client), slog.String("subject", who.User.ID))
	}
	if err == nil {
		err = p.undoUnlessAllowed(p.r.Context(), who, epochs, func(ctx context.Context) error { return p.Codes.Revoke(ctx, key) })
	}
	if err != nil {
		return err
	}
	p.Answer(p.w, p.r, p.q.callback(), "code", code)
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
