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
//		secret <placeholders or texts of at least 32 characters...>
//		secret_hash sha256:<hex>...
//		jwks <key set, or the path of a file with one>
//		auth_method client_secret_basic|client_secret_post|private_key_jwt
//		public
//		native
//		trusted
//		redirect_uri <urls...>
//		post_logout_redirect_uri <urls...>
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
		"secret":                   parse.Each(clientSecretForm, b.addSecret),
		"secret_hash":              parse.List(&c.SecretHashes, "sha256: and 64 hexadecimal digits", checkSecretHash),
		"jwks":                     parse.Once(&c.JWKS, readJWKS),
		"auth_method":              parse.Once(&c.AuthMethod, parse.Either(oauth.AuthMethods...)),
		"public":                   parse.Flag(&c.Public),
		"native":                   parse.Flag(&c.Native),
		"trusted":                  parse.Flag(&c.Trusted),
		"introspect":               b.readIntrospect,
		"redirect_uri":             parse.List(&c.RedirectURIs, redirectURIForm, b.checkRedirectURI),
		"post_logout_redirect_uri": parse.List(&c.PostLogoutRedirectURIs, redirectURIForm, b.checkRedirectURI),
		"origins":                  parse.List(&c.Origins, "origins such as https://reader.example", checkValue(oauth.CheckOrigin)),
		"grants":                   parse.Each("one or more of: "+shortGrants, b.addGrant),
		"deprecated_grant":         b.readDeprecatedGrant,
		"scopes":                   parse.List(&c.Scopes, "one or more scopes", b.checkScope),
		"default_scopes":           parse.List(&c.DefaultScopes, "one or more scopes", b.checkScope, b.checkAmongScopes),
		"audience":                 parse.List(&c.Audience, "one or more audiences"),
		"id_token_alg":             parse.Once(&c.IDTokenAlg, parse.Either(oauth.IDTokenAlgs...)),
		"id_token_claims":          parse.List(&c.IDTokenClaims, idTokenClaimsForm, checkIDTokenClaim, b.checkAmongScopes),
		"userinfo_content_type":    parse.Once(&c.UserinfoContentType, parse.Either(userinfoTypes...)),
		"require_state":            parse.Once((*string)(&c.RequireState), parse.Either(stateRules...)),
		"variant_b":                parse.Flag(&c.VariantB),
		"frame_origins":            parse.List(&c.FrameOrigins, "origins such as https://portal.example", checkValue(oauth.CheckFrameOrigin)),
	}
}

// checkScope checks a scope once all are known: it may be declared further down in the block.
func (b *clientBlock) checkScope(d *caddyfile.Dispenser, word, name string) error {
	where := d.Token()
	b.later = append(b.later, func() error {
		if err := (&oauth.Client{VariantB: b.c.VariantB}).CheckScope(name, b.app.Declared()); err != nil {
			return parse.ErrorAt(where, fmt.Errorf("%s: %w", word, err))
		}
		return nil
	})
	return nil
}
