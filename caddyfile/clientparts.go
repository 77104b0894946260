package caddyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// readSecret keeps placeholders and hashes literals, so that no stored configuration shows a
// secret.
func (b *clientBlock) readSecret() error {
	value, err := parse.Argument(b.Dispenser, "a placeholder such as {env.SECRET}, or at least 32 characters")
	switch {
	case err != nil:
		return err
	case gateway.Placeholder(value):
		b.c.Secrets = append(b.c.Secrets, value)
	case len(value) < gateway.MinClientSecret:
		return b.Errf("secret: has %d characters, expected at least %d, or a placeholder such as {env.SECRET}", len(value), gateway.MinClientSecret)
	default:
		b.c.SecretHashes = append(b.c.SecretHashes, gateway.HashClientSecret(value))
	}
	return nil
}

func (b *clientBlock) readSecretHash() error {
	h, err := parse.Argument(b.Dispenser, "sha256: and 64 hexadecimal digits")
	if err != nil {
		return err
	}
	if err := gateway.CheckClientSecretHash(h); err != nil {
		return b.Errf("secret_hash: %v", err)
	}
	b.c.SecretHashes = append(b.c.SecretHashes, h)
	return nil
}

// readJWKS checks a set that is written here. A file is read when the configuration is loaded.
func (b *clientBlock) readJWKS() error {
	if err := parse.Once(b.Dispenser, b.c.JWKS != ""); err != nil {
		return err
	}
	value, err := parse.Argument(b.Dispenser, "a JWK set in backquotes, or the path of a file that holds one")
	if err != nil {
		return err
	}
	if gateway.InlineJWKS(value) {
		if err := gateway.CheckJWKS(value); err != nil {
			return b.Errf("jwks: %v; expected the client's public keys (RFC 7517 section 5)", err)
		}
	}
	b.c.JWKS = value
	return nil
}

// readIntrospect reads introspect, and perhaps the form of its answers.
func (b *clientBlock) readIntrospect() error {
	if err := parse.Once(b.Dispenser, b.c.Introspect); err != nil {
		return err
	}
	args := b.RemainingArgs()
	if len(args) > 1 || len(args) == 1 && args[0] != "by_status" {
		return b.Errf("introspect: unexpected '%s', expected nothing or by_status", strings.Join(args, " "))
	}
	b.c.Introspect, b.c.IntrospectByStatus = true, len(args) == 1
	return nil
}

// readAddress adds one address to a list. It is checked when the whole client is known, since
// `native` may stand further down.
func (b *clientBlock) readAddress(list func(*gateway.Client) *[]string) error {
	word := b.Val()
	uri, err := parse.Argument(b.Dispenser, "an address such as https://reader.example/callback")
	if err != nil {
		return err
	}
	have := list(&b.c)
	if slices.Contains(*have, uri) {
		return b.Errf("%s: %s is given twice", word, uri)
	}
	*have = append(*have, uri)
	where, id := b.Token(), b.c.ID
	b.later = append(b.later, func() error {
		i := slices.IndexFunc(b.app.Clients, func(c gateway.Client) bool { return c.ID == id })
		if err := oauth.CheckRedirectURI(uri, b.app.Clients[i].Native); err != nil {
			return parse.ErrorAt(where, fmt.Errorf("%s: %s %w", word, uri, err))
		}
		return nil
	})
	return nil
}

func (b *clientBlock) readOrigins() (err error) {
	if b.c.Origins, err = b.readList(b.c.Origins, "origins such as https://reader.example"); err != nil {
		return err
	}
	for _, o := range b.c.Origins {
		if err := oauth.CheckOrigin(o); err != nil {
			return b.Errf("origins: %s %w", o, err)
		}
	}
	return nil
}

func (b *clientBlock) readFrameOrigins() (err error) {
	if b.c.FrameOrigins, err = b.readList(b.c.FrameOrigins, "origins such as https://portal.example"); err != nil {
		return err
	}
	for i, o := range b.c.FrameOrigins {
		if slices.Contains(b.c.FrameOrigins[:i], o) {
			return b.Errf("frame_origins: %s is given twice", o)
		}
		if err := oauth.CheckFrameOrigin(o); err != nil {
			return b.Errf("frame_origins: %s %w", o, err)
		}
	}
	return nil
}

// checkAmongScopes adds a check that the names of a word are among the client's scopes, for
// when the whole client is known.
func (b *clientBlock) checkAmongScopes(word string, names func(*gateway.Client) []string) {
	where, id := b.Token(), b.c.ID
	b.later = append(b.later, func() error {
		i := slices.IndexFunc(b.app.Clients, func(c gateway.Client) bool { return c.ID == id })
		c := &b.app.Clients[i]
		for _, name := range names(c) {
			if !slices.Contains(c.Scopes, name) {
				return parse.ErrorAt(where, fmt.Errorf("%s: %s is not among the client's scopes, expected one of: %s", word, name, strings.Join(c.Scopes, ", ")))
			}
		}
		return nil
	})
}

// readIDTokenClaims reads the scopes whose claims the id_token holds.
func (b *clientBlock) readIDTokenClaims() (err error) {
	if b.c.IDTokenClaims, err = b.readList(b.c.IDTokenClaims, "one or more of: "+strings.Join(oauth.IDTokenClaims, ", ")); err != nil {
		return err
	}
	for i, name := range b.c.IDTokenClaims {
		switch {
		case !slices.Contains(oauth.IDTokenClaims, name):
			return b.Errf("id_token_claims: unexpected '%s', expected one or more of: %s", name, strings.Join(oauth.IDTokenClaims, ", "))
		case slices.Contains(b.c.IDTokenClaims[:i], name):
			return b.Errf("id_token_claims: %s is given twice", name)
		}
	}
	b.checkAmongScopes("id_token_claims", func(c *gateway.Client) []string { return c.IDTokenClaims })
	return nil
}

// readGrants reads grant types. The device grant has a short name here, which JSON has not.
func (b *clientBlock) readGrants() error {
	known := make([]string, 0, len(oauth.GrantTypes))
	for _, g := range oauth.GrantTypes {
		known = append(known, shortGrant(g))
	}
	if !b.NextArg() {
		return b.Errf("grants: expected one or more of: %s", strings.Join(known, ", "))
	}
	for ok := true; ok; ok = b.NextArg() {
		if slices.Contains(oauth.DeprecatedGrantTypes, oauth.GrantType(b.Val())) {
			return b.Errf("grants: %s is deprecated, expected a line such as `deprecated_grant %s until 2030-12-31`", b.Val(), b.Val())
		}
		g := oauth.NamedGrant(b.Val())
		if !slices.Contains(oauth.GrantTypes, g) {
			return b.Errf("grants: unknown grant '%s', expected one of: %s", b.Val(), strings.Join(known, ", "))
		}
		if slices.Contains(b.c.Grants, g) {
			return b.Errf("grants: %s is given twice", b.Val())
		}
		b.c.Grants = append(b.c.Grants, g)
	}
	return nil
}

func shortGrant(g oauth.GrantType) string {
	if g == oauth.DeviceCode {
		return "device_code"
	}
	return string(g)
}

// readDeprecatedGrant reads a deprecated grant and the day on which it ends.
func (b *clientBlock) readDeprecatedGrant() error {
	const form = "expected a line such as `deprecated_grant password until 2030-12-31`"
	args := b.RemainingArgs()
	if len(args) != 3 || args[1] != "until" {
		return b.Errf("deprecated_grant: %s", form)
	}
	grant, day := args[0], args[2]
	if !slices.Contains(oauth.DeprecatedGrantTypes, oauth.GrantType(grant)) {
		return b.Errf("deprecated_grant: unexpected '%s', expected implicit or password", grant)
	}
	if b.c.DeprecatedGrants[grant] != "" {
		return b.Errf("deprecated_grant: %s is given twice", grant)
	}
	if _, err := oauth.ParseEnd(day); err != nil {
		return b.Errf("deprecated_grant: %v", err)
	}
	if b.c.DeprecatedGrants == nil {
		b.c.DeprecatedGrants = make(map[string]string)
	}
	b.c.DeprecatedGrants[grant] = day
	return nil
}
