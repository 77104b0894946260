package gateway

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// MinClientSecret is the least length of a client secret that a person chose, in
// characters: it is stored as a plain SHA-256 digest, which a short one would not
// withstand.
const MinClientSecret = 32

// hashPrefix marks the form of a hashed client secret.
const hashPrefix = "sha256:"

// AuthMethods are the ways in which a secret may be sent (RFC 6749 section 2.3.1).
var AuthMethods = []string{"client_secret_basic", "client_secret_post"}

// HashClientSecret gives the form of a client secret that a configuration may show.
func HashClientSecret(s string) string { return hashPrefix + secret.Digest(s) }

// CheckClientSecretHash reports what is wrong with a hash that was configured.
func CheckClientSecretHash(s string) error {
	digits, ok := strings.CutPrefix(s, hashPrefix)
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != 32 || digits != strings.ToLower(digits) {
		return errors.New("expected sha256: and 64 lower-case hexadecimal digits")
	}
	return nil
}

// clients are those of one configuration.
type clients struct {
	byID    map[string]*oauth.Client
	origins []string
}

func (c *clients) Client(_ context.Context, id string) (*oauth.Client, bool, error) {
	found, ok := c.byID[id]
	return found, ok, nil
}

func (c *clients) CORSOrigins() []string { return c.origins }

func newClients(configured []Client, declared []Scope, repl *caddy.Replacer) (*clients, error) {
	known := slices.Clone(oauth.BuiltinScopes)
	for _, s := range declared {
		known = append(known, s.Name)
	}
	all := &clients{byID: make(map[string]*oauth.Client, len(configured))}
	for _, c := range configured {
		if _, ok := all.byID[c.ID]; ok {
			return nil, fmt.Errorf("client %s is declared twice", c.ID)
		}
		built, err := c.build(known, repl)
		if err != nil {
			return nil, fmt.Errorf("client %s: %w", c.ID, err)
		}
		all.byID[c.ID] = built
		all.origins = append(all.origins, built.CORSOrigins()...)
	}
	slices.Sort(all.origins)
	all.origins = slices.Compact(all.origins)
	return all, nil
}

// Check reports what is wrong with a client, given the scopes that are declared.
// Secrets that are placeholders are looked at when they are resolved.
func (c Client) Check(known []string) error {
	if err := c.CheckKind(); err != nil {
		return err
	}
	for _, uri := range c.RedirectURIs {
		if err := oauth.CheckRedirectURI(uri, c.Native); err != nil {
			return fmt.Errorf("redirect_uri %s %w", uri, err)
		}
	}
	for _, h := range c.SecretHashes {
		if err := CheckClientSecretHash(h); err != nil {
			return fmt.Errorf("secret_hash: %w", err)
		}
	}
	for _, s := range slices.Concat(c.Scopes, c.DefaultScopes) {
		if !slices.Contains(known, s) {
			return fmt.Errorf("scope %s is not declared; expected one of: %s", s, strings.Join(known, ", "))
		}
	}
	for _, s := range c.DefaultScopes {
		if !slices.Contains(c.Scopes, s) {
			return fmt.Errorf("default_scopes: %s is not among the client's scopes", s)
		}
	}
	return nil
}

// CheckKind reports what is wrong with id, authentication and grant types: what can be
// said of a client without knowing the rest of the configuration.
func (c Client) CheckKind() error {
	switch {
	case c.ID == "" || len(c.ID) > 128 || strings.ContainsFunc(c.ID, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the id must be 1 to 128 printable ASCII characters without spaces")
	case c.Public && (len(c.Secrets) > 0 || len(c.SecretHashes) > 0):
		return errors.New("a public client has no secret: remove `public` or the secret")
	case !c.Public && len(c.Secrets) == 0 && len(c.SecretHashes) == 0:
		return errors.New("expected one of: secret, secret_hash, public")
	case c.AuthMethod != "" && !slices.Contains(AuthMethods, c.AuthMethod):
		return fmt.Errorf("auth_method %s is unknown; expected one of: %s", c.AuthMethod, strings.Join(AuthMethods, ", "))
	case c.AuthMethod != "" && c.Public:
		return errors.New("a public client sends no secret: remove `public` or auth_method")
	}
	for _, g := range c.grants() {
		switch {
		case !slices.Contains(oauth.GrantTypes, g):
			return fmt.Errorf("grant %s is unknown; expected one of: %s", g, joinGrants())
		case g == oauth.AuthorizationCode && len(c.RedirectURIs) == 0:
			return errors.New("the authorization_code grant needs a redirect_uri")
		case g == oauth.ClientCredentials && c.Public:
			return errors.New("a public client cannot use client_credentials: it has no credentials")
		}
	}
	return nil
}

func (c Client) grants() []oauth.GrantType {
	var out []oauth.GrantType
	for _, g := range c.Grants {
		out = append(out, oauth.GrantType(g))
	}
	switch {
	case len(out) > 0:
	case len(c.RedirectURIs) > 0:
		out = []oauth.GrantType{oauth.AuthorizationCode, oauth.RefreshToken}
	default:
		out = []oauth.GrantType{oauth.ClientCredentials}
	}
	return out
}

func (c Client) build(known []string, repl *caddy.Replacer) (*oauth.Client, error) {
	if err := c.Check(known); err != nil {
		return nil, err
	}
	built := &oauth.Client{
		ID: c.ID, Name: c.Name, Public: c.Public, AuthMethod: c.AuthMethod, Native: c.Native, Trusted: c.Trusted,
		RedirectURIs: c.RedirectURIs, Origins: c.Origins, Grants: c.grants(),
		Scopes: append(slices.Clone(c.Scopes), "offline_access"), DefaultScopes: c.DefaultScopes, Audience: c.Audience,
	}
	for _, s := range c.Secrets {
		value, err := repl.ReplaceOrErr(s, true, true)
		if err != nil {
			return nil, fmt.Errorf("secret: %w", err)
		}
		if len(value) < MinClientSecret {
			return nil, fmt.Errorf("the secret has %d characters, at least %d are needed", len(value), MinClientSecret)
		}
		built.SecretHashes = append(built.SecretHashes, secret.Digest(value))
	}
	for _, h := range c.SecretHashes {
		built.SecretHashes = append(built.SecretHashes, strings.TrimPrefix(h, hashPrefix))
	}
	return built, nil
}

func joinGrants() string {
	var names []string
	for _, g := range oauth.GrantTypes {
		names = append(names, string(g))
	}
	return strings.Join(names, ", ")
}
