package tokenendpoint

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/authserver/audience"
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/granttype"
	"github.com/gatehouse/gatehouse/module/internal/authserver/oauthhttp"
	"github.com/gatehouse/gatehouse/module/internal/httpx"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Config is what an [Endpoint] needs; New checks it.
type Config struct {
	// Grants are the grant types there are, including those that no client may use now.
	Grants     []grant.Grant
	GrantTypes granttype.Rules
	Audiences  audience.Config
	Users      Users
	Tokens     Tokens
	Metrics    Metrics
	Audit      audit.Sink
	Respond    oauthhttp.Responder
	// Access is the life of access tokens and id_tokens.
	Access time.Duration
	// ClientIP is the address of the sender, without port.
	ClientIP func(*http.Request) string
	Now      func() time.Time
}

// Users finds a user, for the claims of an id_token. ok is false for an unknown one; errors are
// technical.
type Users interface {
	Lookup(ctx context.Context, id string) (user directory.User, ok bool, err error)
}

// Tokens signs. Errors are technical.
type Tokens interface {
	Issue(ctx context.Context, a token.Access) (string, error)
	IssueID(ctx context.Context, id token.ID, alg string) (string, error)
}

// Metrics counts requests; outcome is "issued" or the error code.
type Metrics interface {
	TokenRequest(grant, outcome string)
}

// Endpoint is the token endpoint (RFC 6749 section 3.2), behind client authentication. It does
// what all grant types share: permission to use one, audience, signature, answer and metrics.
type Endpoint struct{ Config }

// New checks the configuration.
func New(c Config) (*Endpoint, error) {
	if len(c.Grants) == 0 || c.Users == nil || c.Tokens == nil || c.Metrics == nil || c.Audit == nil || c.ClientIP == nil || c.Now == nil || c.Access < time.Second {
		return nil, errors.New("tokenendpoint: an incomplete Config")
	}
	return &Endpoint{c}, nil
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
		t.Refuse(w, form, err)
		return
	}
	t.Metrics.TokenRequest(form.Get("grant_type"), "issued")
	t.Respond.WriteJSON(w, http.StatusOK, answer)
}

// Refuse answers and counts an error, also one that came before Serve.
func (t *Endpoint) Refuse(w http.ResponseWriter, form httpx.Form, err error) {
	label := "other" // keeps what a client sends out of the metrics
	if g := t.findGrant(form.Get("grant_type")); g != nil {
		label = string(g.Type())
	}
	t.Metrics.TokenRequest(label, string(oauthhttp.AsError(err).Code))
	t.Respond.WriteError(w, err)
}

// issue asks the grant, signs, and only then uses up what was presented: no fault before that
// costs the user a new sign-in.
func (t *Endpoint) issue(r *http.Request, client *oauth.Client, form httpx.Form, answer http.Header) (tokenAnswer, error) {
	ctx := r.Context()
	g := t.findGrant(form.Get("grant_type"))
	switch {
	case form.Get("grant_type") == "":
		return tokenAnswer{}, oauth.Parameter("grant_type", "is missing")
	case g == nil:
		return tokenAnswer{}, granttype.ErrNotOffered
	}
	if refused := t.GrantTypes.Check(client, g.Type()); refused != nil {
		return tokenAnswer{}, refused
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
	t.Audit.Record(ctx, audit.Event{
		Name: audit.Issue, Client: client.ID, Subject: pending.Subject, Grant: pending.Family, Scopes: pending.Scopes,
		Reason: string(g.Type()),
	})
	if slices.Contains(oauth.DeprecatedGrantTypes, g.Type()) {
		granttype.SetSunset(answer, client.Until[g.Type()])
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

func (t *Endpoint) sign(ctx context.Context, c *oauth.Client, audience []string, p grant.Pending) (string, error) {
	now := t.Now().Truncate(time.Second)
	return t.Tokens.Issue(ctx, token.Access{
		Subject:  p.Subject,
		Audience: audience,
		Client:   c.ID,
		Scopes:   p.Scopes,
		Grant:    p.Family,
		Epochs:   p.Epochs,
		IssuedAt: now,
		Expires:  now.Add(t.Access.Truncate(time.Second)),
	})
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
