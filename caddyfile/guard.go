package caddyfile

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/gateway/oauthguard"
	"github.com/gatehouse/gatehouse/module/guard"
	"github.com/gatehouse/gatehouse/module/oauth"
)

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
	g := new(oauthguard.Guard)
	var names []string
	for h.NextBlock(0) {
		if h.Val() == "versions" {
			if err := parse.Versions(h.Dispenser, &names); err != nil {
				return nil, err
			}
			continue
		}
		if err := readGuardWord(h.Dispenser, app, g); err != nil {
			return nil, err
		}
	}
	if err := g.CheckDecisionOnly(); err != nil {
		return nil, h.WrapErr(err)
	}
	for i := range g.Rules {
		g.Rules[i].Paths = parse.WithVersions(g.Rules[i].Paths, names)
	}
	return g, nil
}

func readGuardWord(d *caddyfile.Dispenser, app *gateway.App, g *oauthguard.Guard) (err error) {
	switch d.Val() {
	case "public", "scope":
		return readGuardRule(d, app, g)
	case "otherwise":
		err = parse.Choice(d, &g.Otherwise, "deny", "token")
	case "audience":
		if err := parse.Once(d, g.Audience != ""); err != nil {
			return err
		}
		g.Audience, err = parse.Argument(d, "an audience, usually the address of the API")
	case "realm":
		if err := parse.Once(d, g.Realm != ""); err != nil {
			return err
		}
		g.Realm, err = parse.Argument(d, "a text")
	case "cors":
		err = readGuardCORS(d, g)
	case "headers":
		err = readGuardHeaders(d, &g.Headers)
	case "forward_token":
		err = parse.Flag(d, &g.ForwardToken)
	case "allow_encoded_slash":
		err = parse.Flag(d, &g.AllowEncodedSlash)
	case "shadow":
		err = parse.Flag(d, &g.Shadow)
	case "decision_only":
		err = parse.Flag(d, &g.DecisionOnly)
	default:
		err = parse.UnknownWord(d, "oauth_guard", "public", "scope", "otherwise", "audience", "realm", "cors", "headers", "forward_token", "allow_encoded_slash", "shadow", "decision_only", "versions")
	}
	return err
}

func readGuardCORS(d *caddyfile.Dispenser, g *oauthguard.Guard) error {
	if err := parse.Once(d, g.CORS != nil || g.CORSUpstream); err != nil {
		return err
	}
	origins, err := parse.Arguments(d, "origins such as https://reader.example, or *, or upstream")
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

func readGuardRule(d *caddyfile.Dispenser, app *gateway.App, g *oauthguard.Guard) error {
	word := d.Val()
	r := oauthguard.Rule{Public: word == "public"}
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
			return parse.UnknownWord(d, word, "allow_encoded_slash")
		}
		if err := parse.Flag(d, &r.AllowEncodedSlash); err != nil {
			return err
		}
	}
	g.Rules = append(g.Rules, r)
	return nil
}

func readGuardHeaders(d *caddyfile.Dispenser, to *oauthguard.Headers) (err error) {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch d.Val() {
		case "subject":
			to.Subject, err = parse.Argument(d, "a header name")
		case "client":
			to.Client, err = parse.Argument(d, "a header name")
		case "scopes":
			to.Scopes, err = parse.Argument(d, "a header name")
		default:
			err = parse.UnknownWord(d, "headers", "subject", "client", "scopes")
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
