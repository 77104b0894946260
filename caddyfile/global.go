package caddyfile

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/oauth"
)

var globalWords = []string{
	"issuer", "name", "secret", "store", "limiter", "users", "tokens", "session", "require_state", "pkce",
	"scope", "client", "registration", "pages", "protect", "revocation_max_stale", "audit",
}

// parseGatehouse parses the global option. Several blocks are merged: the first must have
// the issuer, and a scope must be declared in the block that uses it or before.
//
//	gatehouse {
//		issuer <url>
//		name <text>
//		secret <placeholder>
//		store <module> [<args...>]
//		limiter <module> [<args...>]
//		users <module> [<args...>]
//		tokens { ... }
//		session { absolute|idle <duration> }
//		require_state always|unless_pkce_or_nonce
//		pkce public|required
//		scope <name> <text> { <language> <text> | hidden }
//		client <id> { ... }
//		registration { initial_token <placeholder> | scopes <names...> | max <n> }
//		pages { templates <dir> | logo <address> [wordmark] | color <accent> [<of the dark theme>] | languages <tags...> | links { help|privacy|terms|forgot <address> } }
//		protect { login_failures|per_address|codes_per_user|hash_concurrency <n> | lockout <duration> }
//		revocation_max_stale <duration>
//		audit on|off
//	}
func parseGatehouse(d *caddyfile.Dispenser, existing any) (any, error) {
	app := new(gateway.App)
	if earlier, ok := existing.(httpcaddyfile.App); ok {
		if err := json.Unmarshal(earlier.Value, app); err != nil {
			return nil, err
		}
	}
	d.Next() // the option's name
	block := d.Token()
	if d.NextArg() {
		return nil, d.Errf("gatehouse: unexpected argument '%s', expected a block", d.Val())
	}
	g := &globalBlock{Dispenser: d, app: app}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		if err := g.readWord(); err != nil {
			return nil, err
		}
	}
	if app.Issuer == "" {
		return nil, parse.ErrorAt(block, errors.New("gatehouse: issuer is missing, expected a line such as `issuer https://id.example.com`"))
	}
	for _, check := range g.later {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return httpcaddyfile.App{Name: gateway.AppName, Value: caddyconfig.JSON(app, nil)}, nil
}

type globalBlock struct {
	*caddyfile.Dispenser
	app *gateway.App
	// later are checks that wait until the whole block is read.
	later []func() error
}

func (g *globalBlock) readWord() (err error) {
	app := g.app
	switch word := g.Val(); word {
	case "issuer":
		return g.readIssuer()
	case "name":
		if err := parse.Once(g.Dispenser, app.Name != ""); err != nil {
			return err
		}
		app.Name, err = parse.Argument(g.Dispenser, "a text")
	case "secret":
		return g.readSecret()
	case "store":
		if err := parse.Once(g.Dispenser, app.StoreRaw != nil); err != nil {
			return err
		}
		app.StoreRaw, err = g.readModule("gatehouse.stores.", "a store")
	case "limiter":
		if err := parse.Once(g.Dispenser, app.LimiterRaw != nil); err != nil {
			return err
		}
		app.LimiterRaw, err = g.readModule("gatehouse.limiters.", "a limiter")
	case "users":
		if err := parse.Once(g.Dispenser, app.UsersRaw != nil); err != nil {
			return err
		}
		app.UsersRaw, err = g.readModule("gatehouse.directories.", "a user directory")
	case "tokens":
		return g.readTokens()
	case "session":
		return g.readSession()
	case "require_state":
		app.RequireState, err = g.readChoice(app.RequireState, "always", "unless_pkce_or_nonce", "with_pkce_optional")
	case "pkce":
		app.PKCE, err = g.readChoice(app.PKCE, "public", "required")
	case "scope":
		return g.readScope()
	case "client":
		return g.readClient()
	case "registration":
		return g.readRegistration()
	case "audit":
		app.Audit, err = g.readChoice(app.Audit, "on", "off")
	case "pages":
		return g.readPages()
	case "protect":
		return g.readProtect()
	case "revocation_max_stale":
		if err := parse.Once(g.Dispenser, app.RevocationMaxStale != 0); err != nil {
			return err
		}
		app.RevocationMaxStale, err = parse.Duration(g.Dispenser)
	default:
		return parse.UnknownWord(g.Dispenser, "gatehouse", globalWords...)
	}
	return err
}

func (g *globalBlock) readIssuer() error {
	if err := parse.Once(g.Dispenser, g.app.Issuer != ""); err != nil {
		return err
	}
	value, err := parse.Argument(g.Dispenser, "the address of the authorization server, such as https://id.example.com")
	if err != nil {
		return err
	}
	if !gateway.Placeholder(value) {
		if _, err := gateway.ParseIssuer(value, caddy.NewEmptyReplacer()); err != nil {
			return g.WrapErr(err)
		}
	}
	g.app.Issuer = value
	return nil
}

// readSecret accepts placeholders only: a literal would be readable in the configuration that
// /config/ shows and Caddy saves.
func (g *globalBlock) readSecret() error {
	value, err := parse.Argument(g.Dispenser, "a placeholder such as {env.GATEHOUSE_SECRET}")
	if err != nil {
		return err
	}
	if !gateway.Placeholder(value) {
		return g.Err("secret: expected a placeholder such as {env.GATEHOUSE_SECRET} or {file./run/secrets/gatehouse}: a literal would be readable in Caddy's stored configuration")
	}
	g.app.Secrets = append(g.app.Secrets, value)
	return nil
}

func (g *globalBlock) readChoice(have string, values ...string) (string, error) {
	word := g.Val()
	if err := parse.Once(g.Dispenser, have != ""); err != nil {
		return "", err
	}
	expected := values[0]
	for _, v := range values[1:] {
		expected += " or " + v
	}
	value, err := parse.Argument(g.Dispenser, expected)
	if err == nil && !slices.Contains(values, value) {
		err = g.Errf("%s: unexpected '%s', expected %s", word, value, expected)
	}
	return value, err
}

// readModule reads a module, which the first argument of the current word names.
func (g *globalBlock) readModule(namespace, expected string) (json.RawMessage, error) {
	word := g.Val()
	if !g.NextArg() {
		return nil, g.Errf("%s: expected %s, one of: %s", word, expected, modulesIn(namespace))
	}
	name := g.Val()
	if _, err := caddy.GetModule(namespace + name); err != nil {
		return nil, g.Errf("%s: this build has no module %s%s, expected %s, one of: %s", word, namespace, name, expected, modulesIn(namespace))
	}
	module, err := caddyfile.UnmarshalModule(g.Dispenser, namespace+name)
	if err != nil {
		return nil, err
	}
	return caddyconfig.JSONModuleObject(module, "type", name, nil), nil
}

// modulesIn names the modules of this build in a namespace.
func modulesIn(namespace string) string {
	var names []string
	for _, m := range caddy.GetModules(strings.TrimSuffix(namespace, ".")) {
		names = append(names, m.ID.Name())
	}
	return strings.Join(names, ", ")
}

func (g *globalBlock) readScope() error {
	if !g.NextArg() {
		return g.Err("scope: expected a name and a text, such as `scope articles:read \"Read your articles\"`")
	}
	s := gateway.Scope{Name: g.Val()}
	switch {
	case !oauth.ValidScope(s.Name):
		return g.Errf("scope: invalid name '%s', expected printable ASCII without spaces, quotes and backslashes", s.Name)
	case slices.Contains(oauth.BuiltinScopes, s.Name):
		return g.Errf("scope: %s is built in and needs no declaration", s.Name)
	case slices.Contains(oauth.VariantBScopes, s.Name):
		return g.Errf("scope: %s is one of Variant B's and needs no declaration", s.Name)
	case slices.ContainsFunc(g.app.Scopes, func(o gateway.Scope) bool { return o.Name == s.Name }):
		return g.Errf("scope: %s is declared twice", s.Name)
	}
	if !g.NextArg() {
		return g.Errf("scope %s: expected a text for the consent page", s.Name)
	}
	s.Text = map[string]string{"en": g.Val()}
	if g.NextArg() {
		return g.Errf("scope %s: unexpected argument '%s', expected one text in quotes", s.Name, g.Val())
	}
	for nesting := g.Nesting(); g.NextBlock(nesting); {
		language := g.Val()
		if language == "hidden" {
			if err := parse.Flag(g.Dispenser, &s.Hidden); err != nil {
				return err
			}
			continue
		}
		text, err := parse.Argument(g.Dispenser, "a text")
		if err != nil {
			return err
		}
		s.Text[language] = text
	}
	g.app.Scopes = append(g.app.Scopes, s)
	return nil
}
