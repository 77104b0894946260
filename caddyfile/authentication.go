package caddyfile

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway/oauthguard"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// parseAuthentication parses oauth_authentication, which is Caddy's handler `authentication` with
// the provider `gatehouse`.
//
//	oauth_authentication [<matcher>] {
//		scopes <names...>
//		audience <audience>
//		realm <text>
//		headers { subject|client|scopes <name> }
//		forward_token
//		allow_encoded_slash
//	}
func parseAuthentication(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next()
	if h.NextArg() {
		return nil, h.Errf("oauth_authentication: unexpected argument '%s', expected a block or nothing", h.Val())
	}
	app := globalApp(h)
	if app == nil {
		return nil, h.Err("oauth_authentication: expected a global option `gatehouse { issuer ... }` at the top of the Caddyfile")
	}
	p := new(oauthguard.Provider)
	err := parse.Words{
		"scopes": parse.List(&p.Scopes, "one or more scopes", func(d *caddyfile.Dispenser, word, name string) error {
			if err := app.CheckScopes([]string{name}, oauth.VariantBScopes...); err != nil {
				return d.Errf("%s: %w, expected one that is", word, err)
			}
			return nil
		}),
		"audience":            parse.Once(&p.Audience, parse.Argument(audienceForm)),
		"realm":               parse.Once(&p.Realm, parse.Argument("a text")),
		"headers":             func(d *caddyfile.Dispenser) error { return readGuardHeaders(d, &p.Headers) },
		"forward_token":       parse.Flag(&p.ForwardToken),
		"allow_encoded_slash": parse.Flag(&p.AllowEncodedSlash),
	}.ReadBlock(h.Dispenser, "oauth_authentication")
	if err != nil {
		return nil, err
	}
	return caddyauth.Authentication{ProvidersRaw: caddy.ModuleMap{"gatehouse": caddyconfig.JSON(p, nil)}}, nil
}
