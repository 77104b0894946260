package authorize

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/authcode"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// grantToken sends the browser back with an access token in the fragment (RFC 6749 section
// 4.2.2), and no refresh token: the client could not keep it secret. The token belongs to a grant
// family of its own, by which the user or an administrator can revoke it. The family has the
// name of the code that the request would have got, so that the same form sent twice is not
// answered twice; it is stored before the token is sent, so that every token can be revoked.
func (e *Endpoint) grantToken(w http.ResponseWriter, r *http.Request, b session.Browser, q *Request, client *oauth.Client, who *session.SignedIn, epochs store.Epochs) error {
	audience, err := e.Audiences.Narrow(client, nil, q.Resources)
	if err != nil {
		return page.SendBack(q.callback(), err)
	}
	now := e.Now()
	issued := now.Truncate(time.Second)
	life := e.AccessLife.Truncate(time.Second)
	family := store.Grant{
		ID:      base64.RawURLEncoding.EncodeToString(q.code(b.Keys, who.User.ID)[:16]),
		Dialect: store.DialectOAuth, Client: q.Client, Subject: who.User.ID, Scopes: q.Scopes, Resources: q.Resources,
		AuthTime: who.Session.AuthTime, Session: who.Digest,
		IssuedAt: now, Expires: issued.Add(life), Generation: 1, RotatedAt: now, Epochs: epochs,
	}
	access, err := e.Tokens.Issue(r.Context(), token.Access{
		Subject: who.User.ID, Audience: audience, Client: q.Client, Scopes: q.Scopes,
		Grant: family.ID, Epochs: epochs, IssuedAt: token.SecondsOf(issued), Expires: family.Expires,
	})
	if err != nil {
		return err
	}
	if err := e.storeFamily(r, q, family); err != nil {
		return err
	}
	err = e.undoUnlessAllowed(r.Context(), q, who, epochs, func(ctx context.Context) error {
		_, err := e.Families.End(ctx, family.ID)
		return err
	})
	if err != nil {
		return err
	}
	e.GrantTypes.RecordDeprecated(r.Context(), client, oauth.Implicit, who.User.ID)
	e.Audit.Record(r.Context(), audit.Event{
		Name: audit.Issue, Client: q.Client, Subject: who.User.ID, Grant: family.ID, Scopes: q.Scopes, Reason: string(oauth.Implicit),
	})
	e.Log.Info("token issued at the authorization endpoint", slog.String("client", q.Client), slog.String("subject", who.User.ID))
	e.Answer(w, r, q.callback(), "access_token", access, "token_type", "Bearer",
		"expires_in", strconv.FormatInt(int64(life/time.Second), 10), "scope", oauth.JoinScopes(q.Scopes))
	return nil
}

// storeFamily stores the family for as long as its token, or the form that made it, lives.
func (e *Endpoint) storeFamily(r *http.Request, q *Request, family store.Grant) error {
	expires := family.Expires
	if end := q.Created.Add(e.RequestLife); end.After(expires) {
		expires = end
	}
	created, err := e.Families.Begin(r.Context(), family, expires.Add(authcode.Margin))
	switch refused := (*oauth.Error)(nil); {
	case err == nil && !created:
		return refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")
	case errors.As(err, &refused) && refused.Code == oauth.InvalidGrant:
		return q.refuse(oauth.AccessDenied, "the user has taken the permission back")
	}
	return err
}
