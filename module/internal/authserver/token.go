package authserver

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/clientauth"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/granttype"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// tokenEndpoint is RFC 6749 section 3.2. It does what every grant needs: client
// authentication, the audience, the signature, the answer and its metrics.
type tokenEndpoint struct {
	s        *Server
	clients  *clientauth.Authenticator
	grants   []grant.Grant
	families *grant.Families
}

// tokenAnswer is RFC 6749 section 5.1.
type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token,omitempty"`
	Scope        string `json:"scope"`
	IDToken      string `json:"id_token,omitempty"` // OpenID Connect Core section 3.1.3.3
}

func newTokenEndpoint(s *Server) (*tokenEndpoint, error) {
	clients, err := clientauth.New(clientauth.Config{
		Clients: s.Clients, Attempts: s.Attempts, Failures: s.Protect.ClientFailures, ClientIP: s.ClientIP,
		Store: s.Store, Audience: []string{s.issuer}, Audit: s.Audit, Unknown: s.unknownClient, Now: s.Now,
	})
	if err != nil {
		return nil, err
	}
	config := grant.Config{
		Store: s.Store, Directory: s.Directory, Revocations: s.Revocations, Keys: s.Keys, Now: s.Now,
		Passwords: s.signIn, Tickets: s.CrossDevice, Audit: s.Audit,
		Evicted: s.Metrics.GrantEvicted, PerPair: s.GrantsPerUser,
		Access: s.Lifetimes.Access, Refresh: s.Lifetimes.Refresh,
		RefreshIdle: s.Lifetimes.RefreshIdle, RefreshGrace: s.Lifetimes.RefreshGrace,
	}
	grants, err := grant.All(config)
	if err != nil {
		return nil, err
	}
	families, err := grant.NewFamilies(config)
	if err != nil {
		return nil, err
	}
	return &tokenEndpoint{s: s, clients: clients, grants: grants, families: families}, nil
}

func (t *tokenEndpoint) serve(w http.ResponseWriter, r *http.Request) {
	// RFC 8707 section 2 lets resource come several times.
	form, err := oauthhttp.ReadForm(r, "resource")
	if err != nil {
		t.refuse(w, nil, err)
		return
	}
	g := t.find(form.Get("grant_type"))
	answer, err := t.issue(r, form, g, w.Header())
	if err != nil {
		t.refuse(w, g, err)
		return
	}
	t.s.Metrics.TokenRequest(label(g), "issued")
	t.s.respond.WriteJSON(w, http.StatusOK, answer)
}

// issue authenticates, asks the grant, signs, and only then uses up what was presented:
// no fault before that costs the user a new sign-in.
func (t *tokenEndpoint) issue(r *http.Request, form httpx.Form, g grant.Grant, answer http.Header) (tokenAnswer, error) {
	ctx := r.Context()
	client, err := t.clients.Authenticate(r, form, answer)
	if err != nil {
		return tokenAnswer{}, err
	}
	switch {
	case form.Get("grant_type") == "":
		return tokenAnswer{}, oauth.Parameter("grant_type", "is missing")
	case g == nil:
		return tokenAnswer{}, granttype.ErrNotOffered
	}
	if refused := t.s.grantTypes.Check(client, g.Type()); refused != nil {
		return tokenAnswer{}, refused
	}
	resources := t.s.audiences.Known(client, form.All("resource")) // refused below, after what can be replayed
	pending, err := g.Prepare(ctx, grant.Request{Client: client, Form: form, Resources: resources, Address: t.s.ClientIP(r)})
	if err != nil {
		return tokenAnswer{}, err
	}
	audience, err := t.s.audiences.Narrow(client, pending.Resources, form.All("resource"))
	if err != nil {
		return tokenAnswer{}, err
	}
	access, err := t.sign(ctx, client, audience, pending)
	if err != nil {
		return tokenAnswer{}, oauth.Unavailable(err)
	}
	id, err := t.idToken(ctx, client, pending, access)
	if err != nil {
		return tokenAnswer{}, err
	}
	var refresh string
	if pending.Commit != nil {
		if refresh, err = pending.Commit(ctx); err != nil {
			return tokenAnswer{}, err
		}
	}
	t.s.Audit.Record(ctx, audit.Event{
		Name: audit.Issue, Client: client.ID, Subject: pending.Subject, Grant: pending.Family, Scopes: pending.Scopes,
		Reason: string(g.Type()),
	})
	if slices.Contains(oauth.DeprecatedGrantTypes, g.Type()) {
		granttype.SetSunset(answer, client.Until[g.Type()])
		t.s.grantTypes.RecordDeprecated(ctx, client, g.Type(), pending.Subject)
	}
	return tokenAnswer{
		AccessToken:  access,
		TokenType:    "Bearer",
		ExpiresIn:    int64(t.s.Lifetimes.Access / time.Second),
		RefreshToken: refresh,
		Scope:        oauth.JoinScopes(pending.Scopes),
		IDToken:      id,
	}, nil
}

func (t *tokenEndpoint) sign(ctx context.Context, c *oauth.Client, audience []string, p grant.Pending) (string, error) {
	now := t.s.Now().Truncate(time.Second)
	return t.s.Tokens.Issue(ctx, token.Access{
		Subject:  p.Subject,
		Audience: audience,
		Client:   c.ID,
		Scopes:   p.Scopes,
		Grant:    p.Family,
		Epochs:   p.Epochs,
		IssuedAt: now,
		Expires:  now.Add(t.s.Lifetimes.Access.Truncate(time.Second)),
	})
}

// refuse answers an error and counts it.
func (t *tokenEndpoint) refuse(w http.ResponseWriter, g grant.Grant, err error) {
	e := oauthhttp.AsError(err)
	t.s.Metrics.TokenRequest(label(g), string(e.Code))
	t.s.respond.WriteError(w, e)
}

func (t *tokenEndpoint) find(grantType string) grant.Grant {
	for _, g := range t.grants {
		if string(g.Type()) == grantType {
			return g
		}
	}
	return nil
}

// types are the grant types that are always offered, for the metadata.
func (t *tokenEndpoint) types() []oauth.GrantType {
	var types []oauth.GrantType
	for _, g := range t.grants {
		if !slices.Contains(oauth.OptionalGrantTypes, g.Type()) {
			types = append(types, g.Type())
		}
	}
	return types
}

// label keeps what a client sends out of the metrics.
func label(g grant.Grant) string {
	if g == nil {
		return "other"
	}
	return string(g.Type())
}
