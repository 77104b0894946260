package authserver

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// grantToken sends the browser back with an access token in the fragment (RFC 6749
// section 4.2.2), and no refresh token: the client could not keep it. The token belongs to
// a family of its own, by which the user or an administrator can take it back. The family
// has the name of the code that the request would have got, so that the same form sent
// twice is not answered twice; it is stored before the token is sent, so that none is out
// that nobody could take back.
func (s *signIn) grantToken(w http.ResponseWriter, r *http.Request, b browser, q *request, client *oauth.Client, who *person, epochs store.Epochs) error {
	audience, err := s.audiences.Narrow(client, nil, q.Resources)
	if err != nil {
		return page.SendBack(q.callback(), err)
	}
	now := s.Now()
	issued := now.Truncate(time.Second)
	life := s.Lifetimes.Access.Truncate(time.Second)
	family := store.Grant{
		ID:      base64.RawURLEncoding.EncodeToString(q.code(b.keys, who.user.ID)[:16]),
		Dialect: store.DialectOAuth, Client: q.Client, Subject: who.user.ID, Scopes: q.Scopes, Resources: q.Resources,
		AuthTime: who.session.AuthTime, Session: who.digest,
		IssuedAt: now, Expires: issued.Add(life), Generation: 1, RotatedAt: now, Epochs: epochs,
	}
	access, err := s.Tokens.Issue(r.Context(), token.Access{
		Subject: who.user.ID, Audience: audience, Client: q.Client, Scopes: q.Scopes,
		Grant: family.ID, Epochs: epochs, IssuedAt: issued, Expires: family.Expires,
	})
	if err != nil {
		return err
	}
	if err := s.begun(r, q, family); err != nil {
		return err
	}
	err = s.unlessTakenBack(r.Context(), q, who, epochs, func(ctx context.Context) error { return s.EndGrant(ctx, family.Subject, family.ID) })
	if err != nil {
		return err
	}
	s.grantTypes.RecordDeprecated(r.Context(), client, oauth.Implicit, who.user.ID)
	s.Audit.Record(r.Context(), audit.Event{
		Name: audit.Issue, Client: q.Client, Subject: who.user.ID, Grant: family.ID, Scopes: q.Scopes, Reason: string(oauth.Implicit),
	})
	s.Log.Info("token issued at the authorization endpoint", slog.String("client", q.Client), slog.String("subject", who.user.ID))
	s.page.Answer(w, r, q.callback(), "access_token", access, "token_type", "Bearer",
		"expires_in", strconv.FormatInt(int64(life/time.Second), 10), "scope", oauth.JoinScopes(q.Scopes))
	return nil
}

// begun stores the family for as long as its token, or the form that made it, lives.
func (s *signIn) begun(r *http.Request, q *request, family store.Grant) error {
	expires := family.Expires
	if end := q.Created.Add(s.Lifetimes.Request); end.After(expires) {
		expires = end
	}
	created, err := s.families.Begin(r.Context(), family, expires.Add(codeMargin))
	switch e := (*oauth.Error)(nil); {
	case err == nil && !created:
		return refusal.New(http.StatusBadRequest, refusal.AlreadyAnswered, "")
	case errors.As(err, &e) && e.Code == oauth.InvalidGrant:
		return q.refuse(oauth.AccessDenied, "the user has taken the permission back")
	}
	return err
}
