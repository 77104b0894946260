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
func (g *globalBlock) readClient(d *caddyfile.Dispenser) error {
	id, err := parse.Argument("an id")(d)
	if err != nil {
		return err
	}
	if g.clients[id] {
		return d.Errf("client: %s is declared twice", id)
	}
	b := &clientBlock{globalBlock: g, c: gateway.Client{Client: oauth.Client{ID: id}}, lines: make(map[string]caddyfile.Token)}
	head, words := d.Token(), b.words()
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		b.lines[d.Val()] = d.Token()
		if err := words.Read(d, "client"); err != nil {
			return err
		}
	}
	if err := b.c.CheckKind(); err != nil {
		return parse.ErrorAt(b.lineOf(err, head), fmt.Errorf("client %s: %w", id, err))
	}
	g.app.Clients, g.clients[id] = append(g.app.Clients, b.c), true
	return nil
}

// clientBlock is the client that is being parsed.
type clientBlock struct {
	*globalBlock
	c     gateway.Client
	lines map[string]caddyfile.Token // of each word, the last one
}

// wordsOf maps fields of a client's JSON to their words with other names in the Caddyfile.
var wordsOf = map[string][]string{
	"redirect_uris": {"redirect_uri"}, "post_logout_redirect_uris": {"post_logout_redirect_uri"}, "deprecated_grants": {"deprecated_grant"},
	"secret": {"secret_hash"},
}

// lineOf returns the line of an error about the client as a whole: that of the last word that
// it is about, or otherwise head.
func (b *clientBlock) lineOf(err error, head caddyfile.Token) caddyfile.Token {
	var wrong *oauth.FieldError
	if !errors.As(err, &wrong) {
		return head
	}
	for _, field := range wrong.Fields {
		for _, word := range append([]string{field}, wordsOf[field]...) {
			if t, ok := b.lines[word]; ok {
				head = t
			}
		}
	}
	return head
}

func (b *clientBlock) words() parse.Words {
	c := &b.c
	userinfoTypes := slices.Concat(oauth.UserinfoContentTypes, oauth.VariantBContentTypes)
	stateRules := []string{"always", "unless_pkce_or_nonce", "with_pkce_optional", "never"}
	return parse.Words{
		"name":                     parse.Once(&c.Name, parse.Argument("a text")),
		"owner":                    parse.Once(&c.Owner, parse.Argument(`a text such as "Team Reading <reading@example.com>"`)),
		"secret":                   b.readSecret,
		"secret_hash":              parse.Append(&c.SecretHashes, readSecretHash),
		"jwks":                     parse.Once(&c.JWKS, readJWKS),
		"auth_method":              parse.Once(&c.AuthMethod, parse.Either(oauth.AuthMethods...)),
		"public":                   parse.Flag(&c.Public),
		"native":                   parse.Flag(&c.Native),
		"trusted":                  parse.Flag(&c.Trusted),
		"introspect":               b.readIntrospect,
		"redirect_uri":             b.readAddress(&c.RedirectURIs),
		"post_logout_redirect_uri": b.readAddress(&c.PostLogoutRedirectURIs),
		"origins":                  parse.Once(&c.Origins, readOrigins),
		"grants":                   b.readGrants,
		"deprecated_grant":         b.readDeprecatedGrant,
		"scopes":                   b.readScopes(&c.Scopes),
		"default_scopes":           b.readScopes(&c.DefaultScopes),
		"audience":                 parse.Once(&c.Audience, parse.Arguments("one or more audiences")),
		"id_token_alg":             parse.Once(&c.IDTokenAlg, parse.Either(oauth.IDTokenAlgs...)),
		"id_token_claims":          parse.Once(&c.IDTokenClaims, b.readIDTokenClaims),
		"userinfo_content_type":    parse.Once(&c.UserinfoContentType, parse.Either(userinfoTypes...)),
		"require_state":            parse.Once((*string)(&c.RequireState), parse.Either(stateRules...)),
		"variant_b":                parse.Flag(&c.VariantB),
		"frame_origins":            parse.Once(&c.FrameOrigins, readFrameOrigins),
	}
}

// readScopes reads scopes. They may be declared further down in the block.
func (b *clientBlock) readScopes(list *[]string) parse.Word {
	return func(d *caddyfile.Dispenser) error {
		word := d.Val()
		if !d.NextArg() {
			return d.Errf("%s: expected one or more scopes", word)
		}
		for ok := true; ok; ok = d.NextArg() {
			name, where := d.Val(), d.Token()
			if slices.Contains(*list, name) {
				return d.Errf("%s: %s is given twice", word, name)
			}
			*list = append(*list, name)
			b.later = append(b.later, func() error {
				if err := (&oauth.Client{VariantB: b.c.VariantB}).CheckScope(name, b.app.Declared()); err != nil {
					return parse.ErrorAt(where, fmt.Errorf("%s: %w", word, err))
				}
				return nil
			})
		}
		if word == "default_scopes" {
			b.checkAmongScopes(d.Token(), word, list)
		}
		return nil
	}
}
