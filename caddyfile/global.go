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

	"github.com/gatehouse/gatehouse/caddyfile/bytesize"
	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// parseGatehouse parses the global option. Several blocks are merged: the first must have
// the issuer, and a scope must be declared in the block that uses it or before.
//
//	gatehouse {
//		issuer <url>
//		name <text>
//		secret <placeholders...>
//		store <module> [<args...>]
//		limiter <module> [<args...>]
//		users <module> [<args...>]
//		tokens { ... }
//		session { absolute|idle <duration> }
//		require_state always|unless_pkce_or_nonce
//		pkce public|required
//		scope <name> <text> { <language> <text> | hidden }
//		client <id> { ... }
//		registration { initial_token <placeholders...> | scopes <names...> | max <n> }
//		pages { templates <dir> | logo <address> [wordmark] | color <accent> [<of the dark theme>] | languages <tags...> | links { help|privacy|terms|forgot <address> } }
//		protect { login_failures|per_address|codes_per_user|hash_concurrency <n> | lockout <duration> }
//		revocation_max_stale <duration>
//		token_cache <size>
//		gc_headroom <size>|off
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
	g := &globalBlock{app: app, clients: make(map[string]bool, len(app.Clients)), scopes: make(map[string]bool, len(app.Scopes))}
	for _, c := range app.Clients {
		g.clients[c.ID] = true
	}
	for _, s := range app.Scopes {
		g.scopes[s.Name] = true
	}
	if err := g.words().ReadBlock(d, "gatehouse"); err != nil {
		return nil, err
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

// globalBlock is the global option that is being parsed.
type globalBlock struct {
	app             *gateway.App
	clients, scopes map[string]bool // those declared so far
	later           []func() error  // checks that wait until the whole block is read
}

func (g *globalBlock) words() parse.Words {
	app := g.app
	return parse.Words{
		"issuer":               parse.Once(&app.Issuer, readIssuer),
		"name":                 parse.Once(&app.Name, parse.Argument("a text")),
		"secret":               parse.List(&app.Secrets, masterSecretForm, checkMasterSecret),
		"store":                parse.Once(&app.StoreRaw, readModule("gatehouse.stores.", "a store")),
		"limiter":              parse.Once(&app.LimiterRaw, readModule("gatehouse.limiters.", "a limiter")),
		"users":                parse.Once(&app.UsersRaw, readModule("gatehouse.directories.", "a user directory")),
		"tokens":               tokenWords(&app.Tokens).Section(),
		"session":              sessionWords(&app.Session).Section(),
		"require_state":        parse.Once(&app.RequireState, parse.Either("always", "unless_pkce_or_nonce", "with_pkce_optional")),
		"pkce":                 parse.Once(&app.PKCE, parse.Either("public", "required")),
		"scope":                g.readScope,
		"client":               g.readClient,
		"registration":         g.readRegistration,
		"pages":                pageWords(&app.Pages).Section(),
		"protect":              protectWords(&app.Protect).Section(),
		"revocation_max_stale": parse.Once(&app.RevocationMaxStale, parse.Duration),
		"token_cache":          parse.Once(&app.TokenCache, readTokenCache),
		"gc_headroom":          parse.Once(&app.GCHeadroom, readGCHeadroom),
		"audit":                parse.Once(&app.Audit, parse.Either("on", "off")),
	}
}

func readIssuer(d *caddyfile.Dispenser) (string, error) {
	value, err := parse.Argument("the address of the authorization server, such as https://id.example.com")(d)
	if err != nil || gateway.Placeholder(value) {
		return value, err
	}
	if _, err := gateway.ParseIssuer(value, caddy.NewEmptyReplacer()); err != nil {
		return "", d.WrapErr(err)
	}
	return value, nil
}

func readTokenCache(d *caddyfile.Dispenser) (int64, error) {
	size, err := parse.Size(d)
	if err != nil {
		return 0, err
	}
	if err := gateway.CheckTokenCache(size); err != nil {
		return 0, d.WrapErr(err)
	}
	return size, nil
}

func readGCHeadroom(d *caddyfile.Dispenser) (*int64, error) {
	word := d.Val()
	value, err := parse.Argument("a size such as 96MiB, or off")(d)
	if err != nil {
		return nil, err
	}
	if value == "off" {
		return new(int64), nil
	}
	size, ok := bytesize.Parse(value)
	if !ok {
		return nil, d.Errf("%s: invalid size '%s', expected one such as 96MiB, or off", word, value)
	}
	if err := gateway.CheckGCHeadroom(size); err != nil {
		return nil, d.WrapErr(err)
	}
	return &size, nil
}

const masterSecretForm = "a placeholder such as {env.GATEHOUSE_SECRET}"

// checkMasterSecret accepts placeholders only: a literal would be readable in the configuration
// that /config/ shows and Caddy saves.
func checkMasterSecret(d *caddyfile.Dispenser, word, value string) error {
	if !gateway.Placeholder(value) {
		return d.Errf("%s: expected a placeholder such as {env.GATEHOUSE_SECRET} or {file./run/secrets/gatehouse}: a literal would be readable in Caddy's stored configuration", word)
	}
	return nil
}

// readModule reads a module, which the first argument of the current word names.
func readModule(namespace, expected string) parse.Reader[json.RawMessage] {
	return func(d *caddyfile.Dispenser) (json.RawMessage, error) {
		word := d.Val()
		if !d.NextArg() {
			return nil, d.Errf("%s: expected %s, one of: %s", word, expected, modulesIn(namespace))
		}
		name := d.Val()
		if _, err := caddy.GetModule(namespace + name); err != nil {
			return nil, d.Errf("%s: this build has no module %s%s, expected %s, one of: %s", word, namespace, name, expected, modulesIn(namespace))
		}
		module, err := caddyfile.UnmarshalModule(d, namespace+name)
		if err != nil {
			return nil, err
		}
		return caddyconfig.JSONModuleObject(module, "type", name, nil), nil
	}
}

// modulesIn names the modules of this build in a namespace.
func modulesIn(namespace string) string {
	var names []string
	for _, m := range caddy.GetModules(strings.TrimSuffix(namespace, ".")) {
		names = append(names, m.ID.Name())
	}
	return strings.Join(names, ", ")
}

func (g *globalBlock) readScope(d *caddyfile.Dispenser) error {
	if !d.NextArg() {
		return d.Err("scope: expected a name and a text, such as `scope articles:read \"Read your articles\"`")
	}
	s := gateway.Scope{Name: d.Val()}
	switch {
	case !oauth.ValidScope(s.Name):
		return d.Errf("scope: invalid name '%s', expected printable ASCII without spaces, quotes and backslashes", s.Name)
	case slices.Contains(oauth.BuiltinScopes, s.Name):
		return d.Errf("scope: %s is built in and needs no declaration", s.Name)
	case slices.Contains(oauth.VariantBScopes, s.Name):
		return d.Errf("scope: %s is one of Variant B's and needs no declaration", s.Name)
	case g.scopes[s.Name]:
		return d.Errf("scope: %s is declared twice", s.Name)
	}
	if !d.NextArg() {
		return d.Errf("scope %s: expected a text for the consent page", s.Name)
	}
	s.Text = map[string]string{"en": d.Val()}
	if d.NextArg() {
		return d.Errf("scope %s: unexpected argument '%s', expected one text in quotes", s.Name, d.Val())
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		language := d.Val()
		if language == "hidden" {
			if err := parse.Flag(&s.Hidden)(d); err != nil {
				return err
			}
			continue
		}
		text, err := parse.Argument("a text")(d)
		if err != nil {
			return err
		}
		s.Text[language] = text
	}
	g.app.Scopes, g.scopes[s.Name] = append(g.app.Scopes, s), true
	return nil
}
