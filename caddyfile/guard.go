package caddyfile

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// parseServer parses oauth_server, which has no words of its own.
//
//	oauth_server [<matcher>]
func parseServer(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	h.Next()
	matcher, err := h.ExtractMatcherSet()
	if err != nil {
		return nil, err
	}
	h.Next()
	source := position(h.Dispenser)
	if matcher == nil {
		if err := oneSite(h, source); err != nil {
			return nil, err
		}
	}
	if h.NextArg() {
		return nil, h.Errf("oauth_server: unexpected argument '%s', expected none: its settings are in the global option gatehouse", h.Val())
	}
	if h.NextBlock(0) {
		return nil, h.Errf("oauth_server: unrecognized word '%s', expected no block: its settings are in the global option gatehouse", h.Val())
	}
	if globalApp(h) == nil {
		return nil, h.Err("oauth_server: expected a global option `gatehouse { issuer ... }` at the top of the Caddyfile")
	}
	return h.NewRoute(matcher, &gateway.Server{Source: source}), nil
}

// oneSite refuses a second site with oauth_server: there is one issuer, and clients would
// find its metadata at an address that is not the issuer's. One with a matcher is part of a
// site on purpose, and is not counted. One within `handle` or `route` does not show here to
// which site it belongs, and is checked when the configuration is provisioned.
func oneSite(h httpcaddyfile.Helper, here string) error {
	const key = "gatehouse.oauth_server"
	first, found := h.State[key].(string)
	if h.IsNamedRoute() {
		return nil
	}
	if h.State[key] = here; h.BlockState[key] != here { // a copy: it stands in a block of its own
		h.State[key] = first
		return nil
	}
	if found && first != "" {
		return h.Errf("oauth_server: another site has it already (%s), and there is one issuer; expected one site, with all its addresses in front of one block, as in `id.example.com, http://id.example.com {`", first)
	}
	return nil
}

// parseGuard parses oauth_guard.
//
//	oauth_guard [<matcher>] {
//		public [<METHOD,...>] <paths...> { allow_encoded_slash }
//		scope <name,...> [<METHOD,...>] <paths...> { allow_encoded_slash }
//		otherwise deny|token
//		audience <audience>
//		realm <text>
//		cors <origins...>|upstream
//		headers { subject|client|scopes <name> }
//		forward_token
//		allow_encoded_slash
//		shadow
//		decision_only
//		versions <names...>
//	}
func parseGuard(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next()
	if h.NextArg() {
		return nil, h.Errf("oauth_guard: unexpected argument '%s', expected a block", h.Val())
	}
	app := globalApp(h)
	if app == nil {
		return nil, h.Err("oauth_guard: expected a global option `gatehouse { issuer ... }` at the top of the Caddyfile")
	}
	g := new(gateway.Guard)
	var names []string
	for h.NextBlock(0) {
		if h.Val() == "versions" {
			if err := versions(h.Dispenser, &names); err != nil {
				return nil, err
			}
			continue
		}
		if err := guardWord(h, app, g); err != nil {
			return nil, err
		}
	}
	if err := g.CheckDecisionOnly(); err != nil {
		return nil, h.WrapErr(err)
	}
	for i := range g.Rules {
		g.Rules[i].Paths = versioned(g.Rules[i].Paths, names)
	}
	return g, nil
}

func guardWord(h httpcaddyfile.Helper, app *gateway.App, g *gateway.Guard) (err error) {
	d := h.Dispenser
	switch word := h.Val(); word {
	case "public", "scope":
		return guardRule(d, app, g)
	case "otherwise":
		if err := once(d, g.Otherwise != ""); err != nil {
			return err
		}
		g.Otherwise, err = one(d, "deny or token")
		if err == nil && g.Otherwise != "deny" && g.Otherwise != "token" {
			err = h.Errf("otherwise: unexpected '%s', expected deny or token", g.Otherwise)
		}
	case "audience":
		if err := once(d, g.Audience != ""); err != nil {
			return err
		}
		g.Audience, err = one(d, "an audience, usually the address of the API")
	case "realm":
		if err := once(d, g.Realm != ""); err != nil {
			return err
		}
		g.Realm, err = one(d, "a text")
	case "cors":
		err = guardCORS(d, g)
	case "headers":
		err = guardHeaders(d, &g.Headers)
	case "forward_token":
		err = flag(d, &g.ForwardToken)
	case "allow_encoded_slash":
		err = flag(d, &g.AllowEncodedSlash)
	case "shadow":
		err = flag(d, &g.Shadow)
	case "decision_only":
		err = flag(d, &g.DecisionOnly)
	default:
		err = unknown(d, "oauth_guard", "public", "scope", "otherwise", "audience", "realm", "cors", "headers", "forward_token", "allow_encoded_slash", "shadow", "decision_only", "versions")
	}
	return err
}

func guardCORS(d *caddyfile.Dispenser, g *gateway.Guard) error {
	if err := once(d, g.CORS != nil || g.CORSUpstream); err != nil {
		return err
	}
	origins, err := some(d, "origins such as https://reader.example, or *, or upstream")
	if err != nil {
		return err
	}
	if slices.Contains(origins, "upstream") {
		if len(origins) > 1 {
			return d.Errf("cors: unexpected '%s', expected either origins, which the guard answers for, or upstream alone", strings.Join(origins, " "))
		}
		g.CORSUpstream = true
		return nil
	}
	if g.CORS = origins; slices.Equal(origins, []string{"*"}) {
		return nil
	}
	for _, origin := range origins {
		if err := oauth.CheckOrigin(origin); err != nil {
			return d.Errf("cors: '%s' %s, such as https://reader.example; or * or upstream, alone", origin, err)
		}
	}
	return nil
}

func guardRule(d *caddyfile.Dispenser, app *gateway.App, g *gateway.Guard) error {
	word := d.Val()
	r := gateway.Rule{Public: word == "public"}
	if !r.Public {
		if !d.NextArg() {
			return d.Err("scope: expected a scope, methods and paths, such as `scope articles:read GET,HEAD /articles /articles/*`")
		}
		for name := range strings.SplitSeq(d.Val(), ",") {
			if known := app.Declared(); !slices.Contains(known, name) && !slices.Contains(oauth.VariantBScopes, name) {
				return d.Errf("scope: %s is not declared, expected one of: %s", name, strings.Join(known, ", "))
			}
			r.Scopes = append(r.Scopes, name)
		}
	}
	for d.NextArg() {
		arg := d.Val()
		if strings.HasPrefix(arg, "/") {
			r.Paths = append(r.Paths, arg)
			continue
		}
		if r.Methods != nil || r.Paths != nil {
			if r.Paths == nil && strings.ToUpper(arg) == arg {
				return d.Errf("%s: unexpected '%s', expected a path beginning with /, or several methods with commas such as GET,HEAD", word, arg)
			}
			return d.Errf("%s: unexpected '%s', expected a path beginning with /", word, arg)
		}
		r.Methods = strings.Split(arg, ",")
	}
	if len(r.Paths) == 0 {
		return d.Errf("%s: expected one or more paths such as /articles /articles/*", word)
	}
	if err := guard.CheckRule(guard.Rule(r)); err != nil {
		return d.Errf("%s: %s", word, strings.TrimPrefix(err.Error(), "guard: "))
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if d.Val() != "allow_encoded_slash" {
			return unknown(d, word, "allow_encoded_slash")
		}
		if err := flag(d, &r.AllowEncodedSlash); err != nil {
			return err
		}
	}
	g.Rules = append(g.Rules, r)
	return nil
}

func guardHeaders(d *caddyfile.Dispenser, to *gateway.Headers) (err error) {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch d.Val() {
		case "subject":
			to.Subject, err = one(d, "a header name")
		case "client":
			to.Client, err = one(d, "a header name")
		case "scopes":
			to.Scopes, err = one(d, "a header name")
		default:
			err = unknown(d, "headers", "subject", "client", "scopes")
		}
		if err != nil {
			return err
		}
	}
	if _, err = guard.NewIdentity(guard.IdentityConfig{Subject: to.Subject, Client: to.Client, Scopes: to.Scopes}); err != nil {
		return d.Errf("headers: %s", strings.TrimPrefix(err.Error(), "guard: "))
	}
	return nil
}

// globalApp is what the global option gatehouse said, nil when there is none.
func globalApp(h httpcaddyfile.Helper) *gateway.App {
	option, ok := h.Option("gatehouse").(httpcaddyfile.App)
	if !ok {
		return nil
	}
	app := new(gateway.App)
	if err := json.Unmarshal(option.Value, app); err != nil {
		return nil
	}
	return app
}
