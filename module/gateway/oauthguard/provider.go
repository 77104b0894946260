package oauthguard

import (
	"context"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"

	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func init() { caddy.RegisterModule(new(Provider)) }

// Provider is the provider `gatehouse` of Caddy's handler `authentication`: it accepts requests
// with a valid access token, like an `oauth_guard` without rules, and has the same placeholders
// `{http.auth.user.*}`. It is for sites that have other providers too, or handlers that expect
// `authentication`.
//
// The handler decides nothing by path or method, and wraps no response: it has no CORS, publishes
// no metadata, and does not remove the gateway's cookies from an API's responses. A request that
// a guard would refuse with another status than 401 gets that status only if no other provider is
// configured beside this one; otherwise Caddy responds 401.
//
// A request that another provider accepts is passed on as it came, with what the client sent in
// the identity header fields. If the API trusts them, put an `oauth_guard` with
// `public * /*` and `forward_token` in front, which removes them.
//
// The access log does not show tokens in the address of a request or of its page. Where such a
// request passes, its line is written before it is answered, with status 0. Caddy's error log and
// its lines at level DEBUG show the address.
type Provider struct {
	// Scopes that a token must have, all of them. Default: any valid token is accepted.
	Scopes []string `json:"scopes,omitempty"`
	// The audience that a token must have. Default: the first configured for tokens, else
	// the issuer.
	Audience string `json:"audience,omitempty"`
	// The realm of challenges. Default: the audience.
	Realm string `json:"realm,omitempty"`
	// Names of the header fields that tell the upstream who the caller is.
	Headers guard.Headers `json:"headers,omitzero"`
	// Leaves the Authorization header in the request to the upstream. Default: it is removed.
	ForwardToken bool `json:"forward_token,omitempty"`
	// Accepts `%2F` in paths. Default: such paths are refused.
	AllowEncodedSlash bool `json:"allow_encoded_slash,omitempty"`

	guard  Guard
	beside bool // there are other providers, which may accept what this one refuses
}

// CaddyModule returns the Caddy module information.
func (*Provider) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.authentication.providers.gatehouse", New: func() caddy.Module { return new(Provider) }}
}

// Provision builds the guard that decides.
func (p *Provider) Provision(ctx caddy.Context) error {
	p.guard = Guard{
		Audience: p.Audience, Realm: p.Realm, Headers: p.Headers, ForwardToken: p.ForwardToken, AllowEncodedSlash: p.AllowEncodedSlash,
		DecisionOnly: true, // it publishes nothing
	}
	if len(p.Scopes) > 0 {
		p.guard.Rules = []guard.Rule{{Scopes: p.Scopes, Paths: []string{"/*"}}}
	}
	for _, m := range ctx.Modules() {
		if a, ok := m.(*caddyauth.Authentication); ok {
			p.beside = len(a.ProvidersRaw) > 1
		}
	}
	return p.guard.Provision(ctx)
}

// Authenticate decides on a request as the guard does, and prepares an accepted one for the API in the
// same way. An error means that the request could not be judged.
func (p *Provider) Authenticate(w http.ResponseWriter, r *http.Request) (caddyauth.User, bool, error) {
	g := &p.guard
	leave, err := g.begin(w, r)
	if err != nil {
		p.refuse(w, r, handler.Unavailable(w, err))
		return caddyauth.User{}, false, err
	}
	context.AfterFunc(r.Context(), leave) // handlers behind may ask for the user's name
	d := g.guard.Decide(r)
	g.counts[d.Reason].Inc()
	g.reportRefusal(r, &d)
	p.observe(r, &d)
	if d.Allowed {
		g.prepareRequest(r, &d)
		if d.Redact {
			g.access.WriteAhead(r)
			r.Header.Del("Referer")
		}
		return caddyauth.User{ID: d.Access.Subject, Metadata: map[string]string{
			"client_id": d.Access.Client, "scope": oauth.JoinScopes(d.Access.Scopes),
		}}, true, nil
	}
	d.SetHeader(w.Header())
	if d.Redact {
		g.access.WriteRefused(r, d.Status, w.Header())
	}
	p.refuse(w, r, refusal(r, &d))
	return caddyauth.User{}, false, d.Err
}

// refuse refuses a request. Caddy's handler `authentication` answers every refusal with an empty 401.
// So any other status is sent here, unless an api_errors in front sends it. If there are other
// providers, the request may still be accepted: its body and its response are left alone.
func (p *Provider) refuse(w http.ResponseWriter, r *http.Request, refused error) {
	handler.RecordRefusal(r, refused)
	if p.beside {
		return
	}
	p.guard.identity.Strip(r) // as Guard.refuse does
	keepFromCaches(w, r)
	handler.OwnAnswer(w)
	handler.LeaveBody(w, r)
	if status := handler.StatusOf(refused); status != http.StatusUnauthorized && !handler.Shaped(r) {
		w.Header().Set("Content-Length", "0") // net/http drops what others write afterwards
		w.WriteHeader(status)
	}
}

// refusal is the error with which a handler refuses what d refuses.
func refusal(r *http.Request, d *guard.Decision) error {
	return handler.Error(r, d.Status, &handler.Failure{Code: d.Code, Message: d.Message, Field: d.Field, Silent: d.Reason == guard.Overloaded})
}

// Interface guards
var (
	_ caddy.Provisioner       = (*Provider)(nil)
	_ caddyauth.Authenticator = (*Provider)(nil)
)
