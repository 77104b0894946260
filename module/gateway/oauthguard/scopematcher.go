package oauthguard

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/internal/handler"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

func init() { caddy.RegisterModule(new(MatchScope)) }

// MatchScope is the request matcher `oauth_scope`: it matches requests with a valid access token
// that has all of some scopes. Behind an `oauth_guard` or the authentication provider `gatehouse`
// that is the token they accepted. Elsewhere the matcher verifies the token as they do.
//
// It does not match requests without a token, or with one that a guard would refuse. A request
// whose token cannot be judged, because the store is away or there is too much to do, is answered
// with 503: as a request without the scope it might be taken for another one. Requests in TLS
// early data get 425.
//
// A matcher sees no responses. Where caches may store them, add `Vary: Authorization` with the
// handler `headers`, or a shared cache gives what a token was answered to everybody.
type MatchScope struct {
	// Scopes that the token must have, all of them. Required.
	Scopes []string `json:"scopes,omitempty"`
	// The audience that the token must have. Default: the one that the guard in front
	// requires; without a guard the first configured for tokens, else the issuer.
	Audience string `json:"audience,omitempty"`

	app   *gateway.App
	guard *guard.Guard
	log   *slog.Logger
}

const scopeMatcher = "oauth_scope"

// CaddyModule returns the Caddy module information.
func (*MatchScope) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers." + scopeMatcher, New: func() caddy.Module { return new(MatchScope) }}
}

// UnmarshalCaddyfile implements caddyfile.Unmarshaler. Syntax:
//
//	oauth_scope <scopes...> {
//		audience <audience>
//	}
//
// Several lines of one named matcher are one list: the token must have all of these scopes.
func (m *MatchScope) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		if !d.NextArg() {
			return d.Errf("%s: expected one or more scopes", scopeMatcher)
		}
		for ok := true; ok; ok = d.NextArg() {
			if slices.Contains(m.Scopes, d.Val()) {
				return d.Errf("%s: %s is given twice", scopeMatcher, d.Val())
			}
			m.Scopes = append(m.Scopes, d.Val())
		}
		for nesting := d.Nesting(); d.NextBlock(nesting); {
			switch word := d.Val(); {
			case word != "audience":
				return d.Errf("unrecognized word '%s' in %s, expected audience", word, scopeMatcher)
			case m.Audience != "":
				return d.Err("audience is given twice")
			case !d.AllArgs(&m.Audience):
				return d.Err("audience: expected one, usually the address of the API")
			}
		}
	}
	return nil
}

// Provision builds the guard that judges tokens where no other has.
func (m *MatchScope) Provision(ctx caddy.Context) (err error) {
	if len(m.Scopes) == 0 {
		return fmt.Errorf("%s: expected one or more scopes", scopeMatcher)
	}
	if m.app, err = gateway.FindApp(ctx, scopeMatcher); err != nil {
		return err
	}
	if err := m.app.CheckScopes(m.Scopes, append(slices.Clone(oauth.BuiltinScopes), oauth.VariantBScopes...)...); err != nil {
		return fmt.Errorf("%s: %w", scopeMatcher, err)
	}
	m.log = ctx.Slogger()
	config, err := (&Guard{Audience: m.Audience, AllowEncodedSlash: true}).Policy(m.app.GuardConfig())
	if err != nil {
		return err
	}
	m.guard, err = guard.New(config)
	return err
}

// MatchWithError implements [caddyhttp.RequestMatcherWithError].
func (m *MatchScope) MatchWithError(r *http.Request) (bool, error) {
	handler.AddPlaceholders(r)
	if a := handler.Caller(r); a != nil {
		return m.accepts(a), nil
	}
	leave, err := m.app.Hold()
	if err != nil {
		return false, handler.Error(r, http.StatusServiceUnavailable, &handler.Failure{
			Code: "unavailable", Message: "the service is temporarily unavailable, try again", Cause: err,
		})
	}
	defer leave()
	d := m.guard.Decide(r)
	if d.Err != nil {
		m.log.Error("a token could not be judged", "error", d.Err)
	}
	if d.ForgeryAlarm {
		m.app.WarnForgeries(m.log, handler.ClientIP(r))
	}
	switch {
	case d.Allowed:
		return d.Access != nil && m.accepts(d.Access), nil
	case d.Status == http.StatusServiceUnavailable || d.Status == http.StatusTooEarly:
		return false, refusal(r, &d)
	}
	return false, nil
}

func (m *MatchScope) accepts(a *token.Access) bool {
	return oauth.Subset(m.Scopes, a.Scopes) && (m.Audience == "" || slices.Contains(a.Audience, m.Audience))
}

// Interface guards
var (
	_ caddy.Provisioner                 = (*MatchScope)(nil)
	_ caddyfile.Unmarshaler             = (*MatchScope)(nil)
	_ caddyhttp.RequestMatcherWithError = (*MatchScope)(nil)
)
