package gateway

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// MinClientSecret is the least length of a client secret that a person chose, in
// characters: it is stored as a plain SHA-256 digest, which a short one would not
// withstand.
const MinClientSecret = 32

// hashPrefix marks the form of a hashed client secret.
const hashPrefix = "sha256:"

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

// clients are those of one configuration, and beside them those in the store. A
// configured one comes first, whatever is stored under its id.
type clients struct {
	byID    map[string]*oauth.Client
	origins []string // in order
	until   optionalGrants
	stored  *storedClients
	// complete: a client that is neither configured nor stored is none. Where neither a client
	// nor a site with `oauth_server` is configured, guards take the tokens of a server elsewhere.
	// It is set while the configuration is provisioned, and never later.
	complete bool
}

func (c *clients) Client(ctx context.Context, id string) (*oauth.Client, bool, error) {
	if found, ok := c.byID[id]; ok {
		return found, true, nil
	}
	return c.stored.Client(ctx, id)
}

// AllowsOrigin reports whether it is an origin of a client of the configuration, or of a
// stored one as those were [surveyEvery] ago at most.
func (c *clients) AllowsOrigin(origin string) bool {
	if _, ok := slices.BinarySearch(c.origins, origin); ok {
		return true
	}
	stored, _ := c.stored.summary()
	_, ok := slices.BinarySearch(stored, origin)
	return ok
}

// OptionalGrants lists those that some client has, of the configuration or, [surveyEvery] ago
// at most, of the store.
func (c *clients) OptionalGrants() []oauth.GrantType {
	now := time.Now()
	_, stored := c.stored.summary()
	var open []oauth.GrantType
	for _, g := range oauth.OptionalGrantTypes {
		if c.until.has(g, now) || stored.has(g, now) {
			open = append(open, g)
		}
	}
	return open
}

// optionalGrants says until when some client has each of [oauth.OptionalGrantTypes]; those
// that are not deprecated have no end.
type optionalGrants map[oauth.GrantType]time.Time

func (o optionalGrants) add(c *oauth.Client) {
	for _, g := range oauth.OptionalGrantTypes {
		end, dated := c.Until[g]
		if !c.MayUse(g) || !dated && slices.Contains(oauth.DeprecatedGrantTypes, g) {
			continue
		}
		if last, known := o[g]; !known || end.After(last) {
			o[g] = end
		}
	}
}

func (o optionalGrants) has(g oauth.GrantType, now time.Time) bool {
	end, ok := o[g]
	return ok && (end.IsZero() || now.Before(end))
}

// newClients builds the clients of a configuration, which may have these scopes, and those that
// registered themselves these of them at most (nil: none can register); core is where the
// stored ones are.
func newClients(configured []Client, scopes, registered []string, core *core, repl *caddy.Replacer) (*clients, error) {
	all := &clients{byID: make(map[string]*oauth.Client, len(configured)), until: optionalGrants{}, complete: len(configured) > 0}
	for _, c := range configured {
		if _, ok := all.byID[c.ID]; ok {
			return nil, fmt.Errorf("client %s is declared twice", c.ID)
		}
		built, err := c.build(scopes, repl)
		if err != nil {
			return nil, fmt.Errorf("client %s: %w", c.ID, err)
		}
		all.byID[c.ID] = built
		all.origins = append(all.origins, built.CORSOrigins()...)
		all.until.add(built)
	}
	slices.Sort(all.origins)
	all.origins = slices.Compact(all.origins)
	var err error
	all.stored, err = newStoredClients(clientstore.Config{
		Store: core.store, Revocations: core.revocations, Scopes: scopes, RegisteredScopes: registered,
		Taken: func(id string) bool { return all.byID[id] != nil },
	}, core.revocations.MaxStale())
	return all, err
}

func (c Client) build(known []string, repl *caddy.Replacer) (*oauth.Client, error) {
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
	if built.JWKS, err = loadJWKS(c.JWKS, repl); err != nil {
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
