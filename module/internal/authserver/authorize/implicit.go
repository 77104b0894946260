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

// grantToken sends the browser back with an access token in the fragment (RFC 6749 section 4.2.2), and no refresh
// token: the client could not keep it secret. The token belongs to a grant family of its own, by which the user or an
// administrator can revoke it. The family has the name of the code that the request would have got, so that the same
// form sent twice is not answered twice; it is stored before the token is sent, so that every token can be revoked.
func (p inProgress) grantToken(who *session.SignedIn, epochs store.Epochs) error {
	audience, err := p.Audiences.Narrow(p.client, nil, p.q.Resources)
	if err != nil {
		return page.SendBack(p.q.callback(), err)
	}
	now := p.Now()
	issued := now.Truncate(time.Second)
	life := p.AccessLife.Truncate(time.Second)
	family := store.Grant{
		ID:      base64.RawURLEncoding.EncodeToString(p.q.code(p.b.Keys, who.User.ID)[:16]),
		Dialect: store.DialectOAuth, Client: p.q.Client, Subject: who.User.ID, Scopes: p.q.Scopes, Resources: p.q.Resources,
		AuthTime: who.Session.AuthTime, Session: who.Digest,
		IssuedAt: now, Expires: issued.Add(life), Generation: 1, RotatedAt: now, Epochs: epochs,
	}
	access, err := p.Tokens.Issue(p.r.Context(), token.Access{
		Subject: who.User.ID, Audience: audience, Client: p.q.Client, Scopes: p.q.Scopes,
		Grant: family.ID, Epochs: epochs, IssuedAt: token.SecondsOf(issued), Expires: family.Expires,
	})
	if err != nil {
		return err
	}
	if err := p.storeFamily(family); err != nil {
		return err
	}
	err = p.undoUnlessAllowed(p.r.Context(), who, epochs, func(ctx context.Context) error {
		_, err := p.Families.End(ctx, family.ID)
		return err
	})
	if err != nil {
		return err
	}
	p.GrantTypes.RecordDeprecated(p.r.Context(), p.client, oauth.Implicit, who.User.ID)
	p.Audit.Record(p.r.Context(), audit.Event{
		Name: audit.Issue, Client: p.q.Client, Subject: who.User.ID, Grant: family.ID, Scopes: p.q.Scopes, Reason: string(oauth.Implicit),
	})
	p.Log.Info("token issued at the authorization endpoint", slog.String("client", p.q.Client), slog.String("subject", who.User.ID))
	p.Answer(p.w, p.r, p.q.callback(), "access_token", access, "token_type", "Bearer",
		"expires_in", strconv.FormatInt(int64(life/time.Second), 10), "scope", oauth.JoinScopes(p.q.Scopes))
	return nil
}

// storeFamily stores the family for as long as its token, or the form that made it, lives.
func (p inProgress) storeFamily(family store.Grant) error {
	expires := family.Expires
	if end := p.q.Created.Add(p.RequestLife); end.After(expires) {
		expires = end
	}
	created, err := p.Families.Begin(p.r.Context(), family, expires.Add(authcode.Margin))
	switch refused := (*oauth.Error)(nil); {
	case err == nil && !created:
		return refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")
	case errors.As(err, &refused) && refused.Code == oauth.InvalidGrant:
		return p.q.refuse(oauth.AccessDenied, "the user has taken the permission back")
	}
	return err
}
