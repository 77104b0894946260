package caddyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// client parses one application.
//
//	client <id> {
//		name <text>
//		secret <placeholder or at least 32 characters>
//		secret_hash sha256:<hex>
//		auth_method client_secret_basic|client_secret_post
//		public
//		native
//		trusted
//		redirect_uri <url>
//		origins <origins...>
//		grants authorization_code|refresh_token|client_credentials...
//		scopes <names...>
//		default_scopes <names...>
//		audience <audiences...>
//	}
func (g *globalBlock) client() error {
	id, err := one(g.Dispenser, "an id")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(g.app.Clients, func(o gateway.Client) bool { return o.ID == id }) {
		return g.Errf("client: %s is declared twice", id)
	}
	b := clientBlock{globalBlock: g, c: gateway.Client{ID: id}, head: g.Token()}
	for nesting := g.Nesting(); g.NextBlock(nesting); {
		if err := b.word(); err != nil {
			return err
		}
	}
	if err := b.c.CheckKind(); err != nil {
		return at(b.head, fmt.Errorf("client %s: %w", id, err))
	}
	g.app.Clients = append(g.app.Clients, b.c)
	return nil
}

type clientBlock struct {
	*globalBlock
	c    gateway.Client
	head caddyfile.Token
}

func (b *clientBlock) word() (err error) {
	c := &b.c
	word := b.Val()
	switch word {
	case "name":
		if err := once(b.Dispenser, c.Name != ""); err != nil {
			return err
		}
		c.Name, err = one(b.Dispenser, "a text")
	case "secret":
		err = b.secret()
	case "secret_hash":
		var h string
		if h, err = one(b.Dispenser, "sha256: and 64 hexadecimal digits"); err == nil {
			if err := gateway.CheckClientSecretHash(h); err != nil {
				return b.Errf("secret_hash: %v", err)
			}
			c.SecretHashes = append(c.SecretHashes, h)
		}
	case "auth_method":
		c.AuthMethod, err = b.choice(c.AuthMethod, gateway.AuthMethods...)
	case "public":
		c.Public, err = true, flag(b.Dispenser)
	case "native":
		c.Native, err = true, flag(b.Dispenser)
	case "trusted":
		c.Trusted, err = true, flag(b.Dispenser)
	case "redirect_uri":
		err = b.redirectURI()
	case "origins":
		c.Origins, err = b.list(c.Origins, "origins such as https://reader.example")
	case "grants":
		err = b.grants()
	case "scopes":
		err = b.names(&c.Scopes)
	case "default_scopes":
		err = b.names(&c.DefaultScopes)
	case "audience":
		c.Audience, err = b.list(c.Audience, "one or more audiences")
	default:
		err = unknown(b.Dispenser, "client", "name", "secret", "secret_hash", "auth_method", "public", "native", "trusted", "redirect_uri",
			"origins", "grants", "scopes", "default_scopes", "audience")
	}
	return err
}

// secret keeps placeholders and replaces literals by their hash, so that no stored
// configuration shows one.
func (b *clientBlock) secret() error {
	value, err := one(b.Dispenser, "a placeholder such as {env.SECRET}, or at least 32 characters")
	switch {
	case err != nil:
		return err
	case placeholder(value):
		b.c.Secrets = append(b.c.Secrets, value)
	case len(value) < gateway.MinClientSecret:
		return b.Errf("secret: has %d characters, expected at least %d, or a placeholder such as {env.SECRET}", len(value), gateway.MinClientSecret)
	default:
		b.c.SecretHashes = append(b.c.SecretHashes, gateway.HashClientSecret(value))
	}
	return nil
}

// redirectURI checks the address when the whole client is known: `native` may stand
// further down.
func (b *clientBlock) redirectURI() error {
	uri, err := one(b.Dispenser, "an address such as https://reader.example/callback")
	if err != nil {
		return err
	}
	if slices.Contains(b.c.RedirectURIs, uri) {
		return b.Errf("redirect_uri: %s is given twice", uri)
	}
	b.c.RedirectURIs = append(b.c.RedirectURIs, uri)
	where, id := b.Token(), b.c.ID
	b.later = append(b.later, func() error {
		i := slices.IndexFunc(b.app.Clients, func(c gateway.Client) bool { return c.ID == id })
		if err := oauth.CheckRedirectURI(uri, b.app.Clients[i].Native); err != nil {
			return at(where, fmt.Errorf("redirect_uri: %s %w", uri, err))
		}
		return nil
	})
	return nil
}

func (b *clientBlock) grants() error {
	known := make([]string, 0, len(oauth.GrantTypes))
	for _, g := range oauth.GrantTypes {
		known = append(known, string(g))
	}
	if !b.NextArg() {
		return b.Errf("grants: expected one or more of: %s", strings.Join(known, ", "))
	}
	for ok := true; ok; ok = b.NextArg() {
		if !slices.Contains(known, b.Val()) {
			return b.Errf("grants: unknown grant '%s', expected one of: %s", b.Val(), strings.Join(known, ", "))
		}
		b.c.Grants = append(b.c.Grants, b.Val())
	}
	return nil
}

// names reads scopes, which may be declared further down in the block.
func (b *clientBlock) names(list *[]string) error {
	word := b.Val()
	if !b.NextArg() {
		return b.Errf("%s: expected one or more scopes", word)
	}
	for ok := true; ok; ok = b.NextArg() {
		name, where := b.Val(), b.Token()
		if slices.Contains(*list, name) {
			return b.Errf("%s: %s is given twice", word, name)
		}
		*list = append(*list, name)
		b.later = append(b.later, func() error {
			if known := declared(b.app); !slices.Contains(known, name) {
				return at(where, fmt.Errorf("%s: scope %s is not declared, expected one of: %s", word, name, strings.Join(known, ", ")))
			}
			return nil
		})
	}
	if word == "default_scopes" {
		where, id := b.Token(), b.c.ID
		b.later = append(b.later, func() error {
			i := slices.IndexFunc(b.app.Clients, func(c gateway.Client) bool { return c.ID == id })
			for _, name := range b.app.Clients[i].DefaultScopes {
				if !slices.Contains(b.app.Clients[i].Scopes, name) {
					return at(where, fmt.Errorf("default_scopes: %s is not among the client's scopes, expected one of: %s", name, strings.Join(b.app.Clients[i].Scopes, ", ")))
				}
			}
			return nil
		})
	}
	return nil
}

func (b *clientBlock) list(have []string, expected string) ([]string, error) {
	if err := once(b.Dispenser, have != nil); err != nil {
		return nil, err
	}
	return some(b.Dispenser, expected)
}
