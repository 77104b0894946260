package gateway

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/loadedfiles"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// MinClientSecret is the least length of a configured client secret, in characters: it is
// stored as a plain SHA-256 digest, from which a short one could be guessed.
const MinClientSecret = 32

// hashPrefix marks the form of a hashed client secret.
const hashPrefix = "sha256:"

// HashClientSecret returns the form of a client secret that a configuration may show.
func HashClientSecret(s string) string { return hashPrefix + secret.Digest(s) }

// CheckClientSecretHash reports what is wrong with a configured hash.
func CheckClientSecretHash(s string) error {
	digits, ok := strings.CutPrefix(s, hashPrefix)
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != 32 || digits != strings.ToLower(digits) {
		return errors.New("expected sha256: and 64 lower-case hexadecimal digits")
	}
	return nil
}

// loadClients builds the clients of the configuration, and those in the store.
func (a *App) loadClients(repl *caddy.Replacer) (err error) {
	var configured []*oauth.Client
	scopes := a.Declared()
	for _, c := range a.Clients {
		built, err := c.build(scopes, repl, a.loaded)
		if err != nil {
			return fmt.Errorf("client %s: %w", c.ID, err)
		}
		configured = append(configured, built)
	}
	a.clients, err = clientstore.NewRegistry(configured, clientstore.Config{
		Store: a.core.Store, Revocations: a.core.Revocations, Scopes: scopes, RegisteredScopes: a.Registration.scopes(),
	}, a.core.Revocations.StaleAfter)
	return err
}

func (c Client) build(known []string, repl *caddy.Replacer, files loadedfiles.Files) (*oauth.Client, error) {
	for _, h := range c.SecretHashes {
		if err := CheckClientSecretHash(h); err != nil {
			return nil, fmt.Errorf("secret_hash: %w", err)
		}
	}
	built, err := c.resolve()
	if err != nil {
		return nil, err
	}
	if err := built.Check(known); err != nil {
		return nil, err
	}
	built.Scopes = slices.Clone(c.Scopes)
	if !c.VariantB && built.ActsForPeople() {
		built.Scopes = append(built.Scopes, "offline_access")
	}
	if built.JWKS, err = loadJWKS(c.JWKS, repl, files); err != nil {
		return nil, fmt.Errorf("jwks: %w", err)
	}
	built.SecretHashes = nil
	for _, s := range c.Secrets {
		value, err := filled(s, repl)
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
