// Package tokenendpoint is the token endpoint: it asks the grant type what to issue, signs it and answers. It knows
// neither how clients authenticate nor what a grant type checks.
package tokenendpoint

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/audience"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/authserver/refusal"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Endpoint is the token endpoint (RFC 6749 section 3.2), behind client authentication. It does what all grant types
// share: permission to use one, audience, signature, answer and metrics. All fields are needed.
type Endpoint struct {
	// Grants are the grant types there are, including those that no client may use now.
	Grants     []grant.Grant
	GrantTypes grant.Rules
	Audiences  audience.Config
	// Users has the claims of an id_token.
	Users  directory.Directory
	Tokens Tokens
	// Count counts requests; outcome is "issued", the error code or "client_gone".
	Count   func(grant, outcome string)
	Audit   audit.Sink
	Respond oauthhttp.Responder
	// Access is the life of access tokens and id_tokens.
	Access time.Duration
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
	Now      func() time.Time
}

// Tokens signs. Errors are technical.
type Tokens interface {
	Issue(ctx context.Context, a token.Access) (string, error)
	IssueID(ctx context.Context, id token.ID, alg string) (string, error)
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

// Serve answers a client that is authenticated.
func (t *Endpoint) Serve(w http.ResponseWriter, r *http.Request, client *oauth.Client, form httpx.Form) {
	answer, err := t.issue(r, client, form, w.Header())
	if err != nil {
		t.Refuse(w, r, form, refusal.OrUnavailable(err))
		return
	}
	t.Count(form.Get("grant_type"), "issued")
	t.Respond.WriteJSON(w, http.StatusOK, answer)
}

// Refuse answers and counts an error, also one that came before Serve.
func (t *Endpoint) Refuse(w http.ResponseWriter, r *http.Request, form httpx.Form, err error) {
	label := "other" // keeps what a client sends out of the metrics
	if g := t.findGrant(form.Get("grant_type")); g != nil {
		label = string(g.Type())
	}
	t.Count(label, string(oauthhttp.AnswerTo(r, err).Code))
	t.Respond.WriteError(w, r, err)
}

// issue asks the grant, signs, and only then uses up what was presented: no fault before that costs the user a new
// sign-in.
func (t *Endpoint) issue(r *http.Request, client *oauth.Client, form httpx.Form, answer http.Header) (tokenAnswer, error) {
	ctx := r.Context()
	g := t.findGrant(form.Get("grant_type"))
	switch {
	case form.Get("grant_type") == "":
		return tokenAnswer{}, oauth.Parameter("grant_type", "is missing")
	case g == nil:
		return tokenAnswer{}, grant.ErrNotOffered
	}
	if err := t.GrantTypes.CheckGrantType(client, g.Type()); err != nil {
		return tokenAnswer{}, err
	}
	resources := t.Audiences.Known(client, form.All("resource")) // refused below, after what can be replayed
	pending, err := g.Prepare(ctx, grant.Request{Client: client, Form: form, Resources: resources, Address: t.ClientIP(r)})
	if err != nil {
		return tokenAnswer{}, err
	}
	audience, err := t.Audiences.Narrow(client, pending.Resources, form.All("resource"))
	if err != nil {
		return tokenAnswer{}, err
	}
	now := t.Now().Truncate(time.Second)
	access, err := t.Tokens.Issue(ctx, token.Access{
		Subject: pending.Subject, Audience: audience, Client: client.ID, Scopes: pending.Scopes,
		Grant: pending.Family, Epochs: pending.Epochs, IssuedAt: token.SecondsOf(now), Expires: now.Add(t.Access.Truncate(time.Second)),
	})
	if err != nil {
		return tokenAnswer{}, err
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
	t.Audit.Record(ctx, audit.Event{
		Name: audit.Issue, Client: client.ID, Subject: pending.Subject, Grant: pending.Family, Scopes: pending.Scopes,
		Reason: string(g.Type()),
	})
	if slices.Contains(oauth.DeprecatedGrantTypes, g.Type()) {
		grant.SetSunset(answer, client.Until[g.Type()])
		t.GrantTypes.RecordDeprecated(ctx, client, g.Type(), pending.Subject)
	}
	return tokenAnswer{
		AccessToken:  access,
		TokenType:    "Bearer",
		ExpiresIn:    int64(t.Access / time.Second),
		RefreshToken: refresh,
		Scope:        oauth.JoinScopes(pending.Scopes),
		IDToken:      id,
	}, nil
}

func (t *Endpoint) findGrant(grantType string) grant.Grant {
	for _, g := range t.Grants {
		if string(g.Type()) == grantType {
			return g
		}
	}
	return nil
}

// Types are the grant types that are always offered, for the metadata.
func (t *Endpoint) Types() []oauth.GrantType {
	var types []oauth.GrantType
	for _, g := range t.Grants {
		if !slices.Contains(oauth.OptionalGrantTypes, g.Type()) {
			types = append(types, g.Type())
		}
	}
	return types
}
