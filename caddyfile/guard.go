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
	words := guardWords(g, app)
	words["versions"] = parse.Versions(&names)
	if err := words.ReadBlock(h.Dispenser, "oauth_guard"); err != nil {
		return nil, err
	}
	if err := g.CheckDecisionOnly(); err != nil {
		return nil, h.WrapErr(err)
	}
	for i := range g.Rules {
		g.Rules[i].Paths = parse.WithVersions(g.Rules[i].Paths, names)
	}
	return g, nil
}

const audienceForm = "an audience, usually the address of the API"

func guardWords(g *oauthguard.Guard, app *gateway.App) parse.Words {
	declared := app.Declared()
	rule := func(d *caddyfile.Dispenser) error { return readGuardRule(d, declared, g) }
	return parse.Words{
		"public": rule, "scope": rule,
		"otherwise":           parse.Once(&g.Otherwise, parse.Choice("deny", "token")),
		"audience":            parse.Once(&g.Audience, parse.Argument(audienceForm)),
		"realm":               parse.Once(&g.Realm, parse.Argument("a text")),
		"cors":                guardCORS(g),
		"headers":             func(d *caddyfile.Dispenser) error { return readGuardHeaders(d, &g.Headers) },
		"forward_token":       parse.Flag(&g.ForwardToken),
		"allow_encoded_slash": parse.Flag(&g.AllowEncodedSlash),
		"shadow":              parse.Flag(&g.Shadow),
		"decision_only":       parse.Flag(&g.DecisionOnly),
	}
}

// guardCORS returns the word for the origins of browsers, or `upstream` or `*` alone.
func guardCORS(g *oauthguard.Guard) parse.Word {
	return parse.Each("origins such as https://reader.example, or *, or upstream", func(d *caddyfile.Dispenser, word, origin string) error {
		switch before := len(g.CORS) > 0; {
		case g.CORSUpstream || origin == "upstream" && before:
			return d.Errf("%s: unexpected '%s', expected either origins, which the guard answers for, or upstream alone", word, origin)
		case slices.Contains(g.CORS, "*") || origin == "*" && before:
			return d.Errf("%s: unexpected '%s', expected either origins or * alone, which is all of them", word, origin)
		case slices.Contains(g.CORS, origin):
			return d.Errf("%s: %s is given twice", word, origin)
		case origin == "upstream":
			g.CORSUpstream = true
			return nil
		}
		if err := oauth.CheckOrigin(origin); origin != "*" && err != nil {
			return d.Errf("%s: '%s' %s, such as https://reader.example; or * or upstream, alone", word, origin, err)
		}
		g.CORS = append(g.CORS, origin)
		return nil
	})
}

func readGuardRule(d *caddyfile.Dispenser, declared []string, g *oauthguard.Guard) error {
	word := d.Val()
	r := guard.Rule{Public: word == "public"}
	if !r.Public {
		if !d.NextArg() {
			return d.Err("scope: expected a scope, methods and paths, such as `scope articles:read GET,HEAD /articles /articles/*`")
		}
		for name := range strings.SplitSeq(d.Val(), ",") {
			if !slices.Contains(declared, name) && !slices.Contains(oauth.VariantBScopes, name) {
				return d.Errf("scope: %s is not declared, expected one of: %s", name, strings.Join(declared, ", "))
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
	if err := guard.CheckRule(r); err != nil {
		return d.Errf("%s: %s", word, strings.TrimPrefix(err.Error(), "guard: "))
	}
	more := parse.Words{"allow_encoded_slash": parse.Flag(&r.AllowEncodedSlash)}
	if err := more.ReadBlock(d, word); err != nil {
		return err
	}
	g.Rules = append(g.Rules, r)
	return nil
}

func readGuardHeaders(d *caddyfile.Dispenser, to *guard.Headers) error {
	name := parse.Argument("a header name")
	err := parse.Words{
		"subject": parse.Once(&to.Subject, name), "client": parse.Once(&to.Client, name), "scopes": parse.Once(&to.Scopes, name),
	}.ReadBlock(d, "headers")
	if err != nil {
		return err
	}
	if _, err = guard.NewIdentity(*to, false); err != nil {
		return d.Errf("headers: %s", strings.TrimPrefix(err.Error(), "guard: "))
	}
	return nil
}
