package caddyfile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/oauth"
)

var clientWords = []string{
	"name", "owner", "secret", "secret_hash", "jwks", "auth_method", "public", "native", "trusted", "introspect", "redirect_uri",
	"post_logout_redirect_uri", "origins", "grants", "deprecated_grant", "scopes", "default_scopes", "audience", "id_token_alg", "id_token_claims",
	"userinfo_content_type", "variant_b", "frame_origins", "require_state",
}

// readClient parses one application.
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
func (g *globalBlock) readClient() error {
	id, err := parse.Argument(g.Dispenser, "an id")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(g.app.Clients, func(o gateway.Client) bool { return o.ID == id }) {
		return g.Errf("client: %s is declared twice", id)
	}
	b := clientBlock{globalBlock: g, c: gateway.Client{Client: oauth.Client{ID: id}}, head: g.Token(), words: make(map[string]caddyfile.Token)}
	for nesting := g.Nesting(); g.NextBlock(nesting); {
		if err := b.readWord(); err != nil {
			return err
		}
	}
	if err := b.c.CheckKind(); err != nil {
		return parse.ErrorAt(b.lineOf(err), fmt.Errorf("client %s: %w", id, err))
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

// wordsOf maps fields of a client's JSON to words of the Caddyfile with other names.
var wordsOf = map[string][]string{
	"redirect_uris": {"redirect_uri"}, "post_logout_redirect_uris": {"post_logout_redirect_uri"}, "deprecated_grants": {"deprecated_grant"},
	"secret": {"secret", "secret_hash"},
}

// lineOf returns the line of an error about the client as a whole: that of the last word that
// it is about.
func (b *clientBlock) lineOf(err error) caddyfile.Token {
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

func (b *clientBlock) readWord() (err error) {
	c := &b.c
	word := b.Val()
	b.words[word] = b.Token()
	switch word {
	case "name":
		if err := parse.Once(b.Dispenser, c.Name != ""); err != nil {
			return err
		}
		c.Name, err = parse.Argument(b.Dispenser, "a text")
	case "owner":
		if err := parse.Once(b.Dispenser, c.Owner != ""); err != nil {
			return err
		}
		c.Owner, err = parse.Argument(b.Dispenser, "a text such as \"Team Reading <reading@example.com>\"")
	case "secret":
		err = b.readSecret()
	case "secret_hash":
		err = b.readSecretHash()
	case "jwks":
		err = b.readJWKS()
	case "auth_method":
		c.AuthMethod, err = b.readChoice(c.AuthMethod, oauth.AuthMethods...)
	case "public":
		err = parse.Flag(b.Dispenser, &c.Public)
	case "native":
		err = parse.Flag(b.Dispenser, &c.Native)
	case "trusted":
		err = parse.Flag(b.Dispenser, &c.Trusted)
	case "introspect":
		err = b.readIntrospect()
	case "redirect_uri":
		err = b.readAddress(func(c *gateway.Client) *[]string { return &c.RedirectURIs })
	case "post_logout_redirect_uri":
		err = b.readAddress(func(c *gateway.Client) *[]string { return &c.PostLogoutRedirectURIs })
	case "origins":
		err = b.readOrigins()
	case "grants":
		err = b.readGrants()
	case "deprecated_grant":
		err = b.readDeprecatedGrant()
	case "scopes":
		err = b.readScopes(&c.Scopes)
	case "default_scopes":
		err = b.readScopes(&c.DefaultScopes)
	case "audience":
		c.Audience, err = b.readList(c.Audience, "one or more audiences")
	case "id_token_alg":
		c.IDTokenAlg, err = b.readChoice(c.IDTokenAlg, oauth.IDTokenAlgs...)
	case "id_token_claims":
		err = b.readIDTokenClaims()
	case "userinfo_content_type":
		c.UserinfoContentType, err = b.readChoice(c.UserinfoContentType, slices.Concat(oauth.UserinfoContentTypes, oauth.VariantBContentTypes)...)
	case "require_state":
		var rule string
		rule, err = b.readChoice(string(c.RequireState), "always", "unless_pkce_or_nonce", "with_pkce_optional", "never")
		c.RequireState = oauth.StateRule(rule)
	case "variant_b":
		err = parse.Flag(b.Dispenser, &c.VariantB)
	case "frame_origins":
		err = b.readFrameOrigins()
	default:
		err = parse.UnknownWord(b.Dispenser, "client", clientWords...)
	}
	return err
}

// readScopes reads scopes. They may be declared further down in the block.
func (b *clientBlock) readScopes(list *[]string) error {
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
				return parse.ErrorAt(where, fmt.Errorf("%s: %w", word, err))
			}
			return nil
		})
	}
	if word == "default_scopes" {
		b.checkAmongScopes(word, func(c *gateway.Client) []string { return c.DefaultScopes })
	}
	return nil
}

// variantB reports whether the client of this id speaks Variant B.
func variantB(app *gateway.App, id string) bool {
	return slices.ContainsFunc(app.Clients, func(c gateway.Client) bool { return c.ID == id && c.VariantB })
}

func (b *clientBlock) readList(have []string, expected string) ([]string, error) {
	if err := parse.Once(b.Dispenser, have != nil); err != nil {
		return nil, err
	}
	return parse.Arguments(b.Dispenser, expected)
}
