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

const clientSecretForm = "a placeholder such as {env.SECRET}, or at least 32 characters"

// addSecret keeps placeholders and hashes literals, so that no stored configuration shows a
// secret.
func (b *clientBlock) addSecret(d *caddyfile.Dispenser, word, value string) error {
	to := &b.c.Secrets
	if !gateway.Placeholder(value) {
		if len(value) < gateway.MinClientSecret {
			return d.Errf("%s: has %d characters, expected at least %d, or a placeholder such as {env.SECRET}", word, len(value), gateway.MinClientSecret)
		}
		to, value = &b.c.SecretHashes, gateway.HashClientSecret(value)
	}
	if slices.Contains(*to, value) {
		return d.Errf("%s: the same one is given twice", word)
	}
	*to = append(*to, value)
	return nil
}

func checkSecretHash(d *caddyfile.Dispenser, word, hash string) error {
	if err := gateway.CheckClientSecretHash(hash); err != nil {
		return d.Errf("%s: %v", word, err)
	}
	return nil
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

const redirectURIForm = "an address such as https://reader.example/callback"

// checkRedirectURI checks an address when the whole client is known, since `native` may stand
// further down.
func (b *clientBlock) checkRedirectURI(d *caddyfile.Dispenser, word, uri string) error {
	where := d.Token()
	b.later = append(b.later, func() error {
		if err := oauth.CheckRedirectURI(uri, b.c.Native); err != nil {
			return parse.ErrorAt(where, fmt.Errorf("%s: %s %w", word, uri, err))
		}
		return nil
	})
	return nil
}

// checkValue has an error of check name the word and the value.
func checkValue(check func(string) error) parse.Check {
	return func(d *caddyfile.Dispenser, word, value string) error {
		if err := check(value); err != nil {
			return d.Errf("%s: %s %w", word, value, err)
		}
		return nil
	}
}

// checkAmongScopes has a value be among the client's scopes, once these are known.
func (b *clientBlock) checkAmongScopes(d *caddyfile.Dispenser, word, name string) error {
	where := d.Token()
	b.later = append(b.later, func() error {
		if !slices.Contains(b.c.Scopes, name) {
			return parse.ErrorAt(where, fmt.Errorf("%s: %s is not among the client's scopes, expected one of: %s", word, name, strings.Join(b.c.Scopes, ", ")))
		}
		return nil
	})
	return nil
}

var idTokenClaimsForm = "one or more of: " + strings.Join(oauth.IDTokenClaims, ", ")

func checkIDTokenClaim(d *caddyfile.Dispenser, word, name string) error {
	if !slices.Contains(oauth.IDTokenClaims, name) {
		return d.Errf("%s: unexpected '%s', expected %s", word, name, idTokenClaimsForm)
	}
	return nil
}

// shortGrants are the grant types as the Caddyfile has them.
var shortGrants = func() string {
	names := make([]string, 0, len(oauth.GrantTypes))
	for _, g := range oauth.GrantTypes {
		names = append(names, shortGrant(g))
	}
	return strings.Join(names, ", ")
}()

// addGrant adds a grant type. The device grant has a short name here, which JSON has not.
func (b *clientBlock) addGrant(d *caddyfile.Dispenser, word, name string) error {
	g := oauth.NamedGrant(name)
	switch {
	case slices.Contains(oauth.DeprecatedGrantTypes, oauth.GrantType(name)):
		return d.Errf("%s: %s is deprecated, expected a line such as `deprecated_grant %s until 2030-12-31`", word, name, name)
	case !slices.Contains(oauth.GrantTypes, g):
		return d.Errf("%s: unknown grant '%s', expected one of: %s", word, name, shortGrants)
	case slices.Contains(b.c.Grants, g):
		return d.Errf("%s: %s is given twice", word, name)
	}
	b.c.Grants = append(b.c.Grants, g)
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
