package caddyfile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/oauth"
)

var clientWords = []string{
	"name", "owner", "secret", "secret_hash", "jwks", "auth_method", "public", "native", "trusted", "introspect", "redirect_uri",
	"post_logout_redirect_uri", "origins", "grants", "deprecated_grant", "scopes", "default_scopes", "audience", "id_token_alg", "id_token_claims",
	"userinfo_content_type", "variant_b", "frame_origins", "require_state",
}

// client parses one application.
//
//	client <id> {
//		name <text>
//		owner <text>
//		variant_b
//		frame_origins <origins...>
//		secret <placeholder or at least 32 characters>
//		secret_hash sha256:<hex>
//		jwks <key set, or the path of a file with one>
//		auth_method client_secret_basic|client_secret_post|private_key_jwt
//		public
//		native
//		trusted
//		redirect_uri <url>
//		post_logout_redirect_uri <url>
//		origins <origins...>
//		grants authorization_code|refresh_token|client_credentials|device_code...
//		deprecated_grant implicit|password until <YYYY-MM-DD>
//		scopes <names...>
//		default_scopes <names...>
//		audience <audiences...>
//		introspect [by_status]
//		id_token_alg RS256|ES256|EdDSA
//		id_token_claims profile|email|phone|address...
//		userinfo_content_type application/json|application/jwt; with variant_b auto|json|text
//		require_state always|unless_pkce_or_nonce; with variant_b also never
//	}
func (g *globalBlock) client() error {
	id, err := one(g.Dispenser, "an id")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(g.app.Clients, func(o gateway.Client) bool { return o.ID == id }) {
		return g.Errf("client: %s is declared twice", id)
	}
	b := clientBlock{globalBlock: g, c: gateway.Client{ID: id}, head: g.Token(), words: make(map[string]caddyfile.Token)}
	for nesting := g.Nesting(); g.NextBlock(nesting); {
		if err := b.word(); err != nil {
			return err
		}
	}
	if err := b.c.CheckKind(); err != nil {
		return at(b.place(err), fmt.Errorf("client %s: %w", id, err))
	}
	g.app.Clients = append(g.app.Clients, b.c)
	return nil
}

type clientBlock struct {
	*globalBlock
	c     gateway.Client
	head  caddyfile.Token
	words map[string]caddyfile.Token // where each was written last
}

// wordsOf are the words of a client for fields of its JSON that have other names.
var wordsOf = map[string][]string{
	"redirect_uris": {"redirect_uri"}, "post_logout_redirect_uris": {"post_logout_redirect_uri"}, "deprecated_grants": {"deprecated_grant"},
	"secret": {"secret", "secret_hash"},
}

// place is where an error about the client as a whole points to: the last of the words it is
// about that was written.
func (b *clientBlock) place(err error) caddyfile.Token {
	where := b.head
	var wrong *oauth.FieldError
	if !errors.As(err, &wrong) {
		return where
	}
	for _, field := range wrong.Fields {
		words := wordsOf[field]
		if words == nil {
			words = []string{field}
		}
		for _, word := range words {
			if t, ok := b.words[word]; ok {
				where = t
			}
		}
	}
	return where
}

func (b *clientBlock) word() (err error) {
	c := &b.c
	word := b.Val()
	b.words[word] = b.Token()
	switch word {
	case "name":
		if err := once(b.Dispenser, c.Name != ""); err != nil {
			return err
		}
		c.Name, err = one(b.Dispenser, "a text")
	case "owner":
		if err := once(b.Dispenser, c.Owner != ""); err != nil {
			return err
		}
		c.Owner, err = one(b.Dispenser, "a text such as \"Team Reading <reading@example.com>\"")
	case "secret":
		err = b.secret()
	case "secret_hash":
		err = b.secretHash()
	case "jwks":
		err = b.jwks()
	case "auth_method":
		c.AuthMethod, err = b.choice(c.AuthMethod, oauth.AuthMethods...)
	case "public":
		err = flag(b.Dispenser, &c.Public)
	case "native":
		err = flag(b.Dispenser, &c.Native)
	case "trusted":
		err = flag(b.Dispenser, &c.Trusted)
	case "introspect":
		err = b.introspect()
	case "redirect_uri":
		err = b.address(func(c *gateway.Client) *[]string { return &c.RedirectURIs })
	case "post_logout_redirect_uri":
		err = b.address(func(c *gateway.Client) *[]string { return &c.PostLogoutRedirectURIs })
	case "origins":
		err = b.origins()
	case "grants":
		err = b.grants()
	case "deprecated_grant":
		err = b.deprecatedGrant()
	case "scopes":
		err = b.names(&c.Scopes)
	case "default_scopes":
		err = b.names(&c.DefaultScopes)
	case "audience":
		c.Audience, err = b.list(c.Audience, "one or more audiences")
	case "id_token_alg":
		c.IDTokenAlg, err = b.choice(c.IDTokenAlg, oauth.IDTokenAlgs...)
	case "id_token_claims":
		err = b.idTokenClaims()
	case "userinfo_content_type":
		c.UserinfoContentType, err = b.choice(c.UserinfoContentType, slices.Concat(oauth.UserinfoContentTypes, oauth.VariantBContentTypes)...)
	case "require_state":
		c.RequireState, err = b.choice(c.RequireState, "always", "unless_pkce_or_nonce", "with_pkce_optional", "never")
	case "variant_b":
		err = flag(b.Dispenser, &c.VariantB)
	case "frame_origins":
		err = b.frameOrigins()
	default:
		err = unknown(b.Dispenser, "client", clientWords...)
	}
	return err
}

// names reads scopes, which may be declared further down in the block.
func (b *clientBlock) names(list *[]string) error {
	word := b.Val()
	if !b.NextArg() {
		return b.Errf("%s: expected one or more scopes", word)
	}
	for ok := true; ok; ok = b.NextArg() {
		name, where, id := b.Val(), b.Token(), b.c.ID
		if slices.Contains(*list, name) {
			return b.Errf("%s: %s is given twice", word, name)
		}
		*list = append(*list, name)
		b.later = append(b.later, func() error {
			if err := (&oauth.Client{VariantB: variantB(b.app, id)}).CheckScope(name, b.app.Declared()); err != nil {
				return at(where, fmt.Errorf("%s: %w", word, err))
			}
			return nil
		})
	}
	if word == "default_scopes" {
		b.amongScopes(word, func(c *gateway.Client) []string { return c.DefaultScopes })
	}
	return nil
}

// variantB reports whether the client of this id is one of Variant B.
func variantB(app *gateway.App, id string) bool {
	return slices.ContainsFunc(app.Clients, func(c gateway.Client) bool { return c.ID == id && c.VariantB })
}

func (b *clientBlock) list(have []string, expected string) ([]string, error) {
	if err := once(b.Dispenser, have != nil); err != nil {
		return nil, err
	}
	return some(b.Dispenser, expected)
}
