package caddyfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/caddyfile/internal/parse"
	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// readSecret keeps placeholders and hashes literals, so that no stored configuration shows a
// secret.
func (b *clientBlock) readSecret(d *caddyfile.Dispenser) error {
	value, err := parse.Argument("a placeholder such as {env.SECRET}, or at least 32 characters")(d)
	switch {
	case err != nil:
		return err
	case gateway.Placeholder(value):
		b.c.Secrets = append(b.c.Secrets, value)
	case len(value) < gateway.MinClientSecret:
		return d.Errf("secret: has %d characters, expected at least %d, or a placeholder such as {env.SECRET}", len(value), gateway.MinClientSecret)
	default:
		b.c.SecretHashes = append(b.c.SecretHashes, gateway.HashClientSecret(value))
	}
	return nil
}

func readSecretHash(d *caddyfile.Dispenser) (string, error) {
	h, err := parse.Argument("sha256: and 64 hexadecimal digits")(d)
	if err != nil {
		return "", err
	}
	if err := gateway.CheckClientSecretHash(h); err != nil {
		return "", d.Errf("secret_hash: %v", err)
	}
	return h, nil
}

// readJWKS checks a set that is written here. A file is read when the configuration is loaded.
func readJWKS(d *caddyfile.Dispenser) (string, error) {
	value, err := parse.Argument("a JWK set in backquotes, or the path of a file that holds one")(d)
	if err != nil || !gateway.InlineJWKS(value) {
		return value, err
	}
	if err := gateway.CheckJWKS(value); err != nil {
		return "", d.Errf("jwks: %v; expected the client's public keys (RFC 7517 section 5)", err)
	}
	return value, nil
}

// readIntrospect reads introspect, and perhaps the form of its answers.
func (b *clientBlock) readIntrospect(d *caddyfile.Dispenser) error {
	if err := parse.CheckOnce(d, b.c.Introspect); err != nil {
		return err
	}
	args := d.RemainingArgs()
	if len(args) > 1 || len(args) == 1 && args[0] != "by_status" {
		return d.Errf("introspect: unexpected '%s', expected nothing or by_status", strings.Join(args, " "))
	}
	b.c.Introspect, b.c.IntrospectByStatus = true, len(args) == 1
	return nil
}

// readAddress adds one address to a list. It is checked when the whole client is known, since
// `native` may stand further down.
func (b *clientBlock) readAddress(list *[]string) parse.Word {
	return func(d *caddyfile.Dispenser) error {
		word := d.Val()
		uri, err := parse.Argument("an address such as https://reader.example/callback")(d)
		if err != nil {
			return err
		}
		if slices.Contains(*list, uri) {
			return d.Errf("%s: %s is given twice", word, uri)
		}
		*list = append(*list, uri)
		where := d.Token()
		b.later = append(b.later, func() error {
			if err := oauth.CheckRedirectURI(uri, b.c.Native); err != nil {
				return parse.ErrorAt(where, fmt.Errorf("%s: %s %w", word, uri, err))
			}
			return nil
		})
		return nil
	}
}

func readOrigins(d *caddyfile.Dispenser) ([]string, error) {
	origins, err := parse.Arguments("origins such as https://reader.example")(d)
	for _, o := range origins {
		if err := oauth.CheckOrigin(o); err != nil {
			return nil, d.Errf("origins: %s %w", o, err)
		}
	}
	return origins, err
}

func readFrameOrigins(d *caddyfile.Dispenser) ([]string, error) {
	origins, err := parse.Arguments("origins such as https://portal.example")(d)
	for i, o := range origins {
		if slices.Contains(origins[:i], o) {
			return nil, d.Errf("frame_origins: %s is given twice", o)
		}
		if err := oauth.CheckFrameOrigin(o); err != nil {
			return nil, d.Errf("frame_origins: %s %w", o, err)
		}
	}
	return origins, err
}

// checkAmongScopes has the names of a word be among the client's scopes, once these are known.
func (b *clientBlock) checkAmongScopes(where caddyfile.Token, word string, names *[]string) {
	b.later = append(b.later, func() error {
		for _, name := range *names {
			if !slices.Contains(b.c.Scopes, name) {
				return parse.ErrorAt(where, fmt.Errorf("%s: %s is not among the client's scopes, expected one of: %s", word, name, strings.Join(b.c.Scopes, ", ")))
			}
		}
		return nil
	})
}

// readIDTokenClaims reads the scopes whose claims the id_token holds.
func (b *clientBlock) readIDTokenClaims(d *caddyfile.Dispenser) ([]string, error) {
	form := "one or more of: " + strings.Join(oauth.IDTokenClaims, ", ")
	names, err := parse.Arguments(form)(d)
	for i, name := range names {
		switch {
		case !slices.Contains(oauth.IDTokenClaims, name):
			return nil, d.Errf("id_token_claims: unexpected '%s', expected %s", name, form)
		case slices.Contains(names[:i], name):
			return nil, d.Errf("id_token_claims: %s is given twice", name)
		}
	}
	b.checkAmongScopes(d.Token(), "id_token_claims", &names)
	return names, err
}

// readGrants reads grant types. The device grant has a short name here, which JSON has not.
func (b *clientBlock) readGrants(d *caddyfile.Dispenser) error {
	known := make([]string, 0, len(oauth.GrantTypes))
	for _, g := range oauth.GrantTypes {
		known = append(known, shortGrant(g))
	}
	if !d.NextArg() {
		return d.Errf("grants: expected one or more of: %s", strings.Join(known, ", "))
	}
	for ok := true; ok; ok = d.NextArg() {
		if slices.Contains(oauth.DeprecatedGrantTypes, oauth.GrantType(d.Val())) {
			return d.Errf("grants: %s is deprecated, expected a line such as `deprecated_grant %s until 2030-12-31`", d.Val(), d.Val())
		}
		g := oauth.NamedGrant(d.Val())
		if !slices.Contains(oauth.GrantTypes, g) {
			return d.Errf("grants: unknown grant '%s', expected one of: %s", d.Val(), strings.Join(known, ", "))
		}
		if slices.Contains(b.c.Grants, g) {
			return d.Errf("grants: %s is given twice", d.Val())
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
func (b *clientBlock) readDeprecatedGrant(d *caddyfile.Dispenser) error {
	const form = "expected a line such as `deprecated_grant password until 2030-12-31`"
	args := d.RemainingArgs()
	if len(args) != 3 || args[1] != "until" {
		return d.Errf("deprecated_grant: %s", form)
	}
	grant, day := args[0], args[2]
	if !slices.Contains(oauth.DeprecatedGrantTypes, oauth.GrantType(grant)) {
		return d.Errf("deprecated_grant: unexpected '%s', expected implicit or password", grant)
	}
	if b.c.DeprecatedGrants[grant] != "" {
		return d.Errf("deprecated_grant: %s is given twice", grant)
	}
	if _, err := oauth.ParseEnd(day); err != nil {
		return d.Errf("deprecated_grant: %v", err)
	}
	if b.c.DeprecatedGrants == nil {
		b.c.DeprecatedGrants = make(map[string]string)
	}
	b.c.DeprecatedGrants[grant] = day
	return nil
}
