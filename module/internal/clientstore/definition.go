package clientstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Definition is a client as an operator sees it: no secret and no hash of one. The words
// are those of a client in the configuration.
type Definition struct {
	// ID is the client_id. Create makes one when it is empty; it never changes.
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	Owner string `json:"owner,omitempty"`
	// AuthMethod: client_secret_basic, client_secret_post or private_key_jwt; "" for any.
	AuthMethod string `json:"auth_method,omitempty"`
	// JWKS is an inline JWK set of public keys.
	JWKS string `json:"jwks,omitempty"`
	// Public never changes.
	Public                 bool     `json:"public,omitempty"`
	Native                 bool     `json:"native,omitempty"`
	RedirectURIs           []string `json:"redirect_uris,omitempty"`
	PostLogoutRedirectURIs []string `json:"post_logout_redirect_uris,omitempty"`
	Origins                []string `json:"origins,omitempty"`
	// Grants that are empty stand for the usual ones, see [oauth.ChosenGrants].
	Grants []string `json:"grants,omitempty"`
	// DeprecatedGrants name the day (YYYY-MM-DD, UTC) from which each is refused.
	DeprecatedGrants    map[string]string `json:"deprecated_grants,omitempty"`
	Scopes              []string          `json:"scopes,omitempty"`
	DefaultScopes       []string          `json:"default_scopes,omitempty"`
	Audience            []string          `json:"audience,omitempty"`
	Trusted             bool              `json:"trusted,omitempty"`
	Introspect          bool              `json:"introspect,omitempty"`
	IntrospectByStatus  bool              `json:"introspect_by_status,omitempty"`
	IDTokenAlg          string            `json:"id_token_alg,omitempty"`
	IDTokenClaims       []string          `json:"id_token_claims,omitempty"`
	UserinfoContentType string            `json:"userinfo_content_type,omitempty"`
	// RequireState: always, unless_pkce_or_nonce, or never with variant_b; "" for the default.
	RequireState string `json:"require_state,omitempty"`
	// VariantB never changes: codes and tokens of the one dialect are none of the other.
	VariantB     bool     `json:"variant_b,omitempty"`
	FrameOrigins []string `json:"frame_origins,omitempty"`

	// What follows is told, and ignored in what Create and Update are given.

	Created time.Time `json:"created,omitzero"`
	// Secrets that authenticate at this moment, the oldest first.
	Secrets []Secret `json:"secrets,omitempty"`
	// SelfRegistered clients came by RFC 7591.
	SelfRegistered bool `json:"self_registered,omitempty"`
	// UnusedUntil is when a registration that nobody uses ends; zero: never.
	UnusedUntil time.Time `json:"unused_until,omitzero"`
}

// Secret is one of a client's secrets.
type Secret struct {
	Created time.Time `json:"created"`
	// Until is when it ends because another replaces it; zero: it does not.
	Until time.Time `json:"until,omitzero"`
}

// Describe gives the operator's view of a client, wherever it is kept.
func Describe(c *oauth.Client) Definition {
	d := Definition{
		ID: c.ID, Name: c.Name, Owner: c.Owner, AuthMethod: c.AuthMethod, JWKS: c.JWKS, Public: c.Public, Native: c.Native,
		RedirectURIs: c.RedirectURIs, PostLogoutRedirectURIs: c.PostLogoutRedirectURIs, Origins: c.Origins,
		Scopes: c.Scopes, DefaultScopes: c.DefaultScopes, Audience: c.Audience, Trusted: c.Trusted, Introspect: c.Introspect, IntrospectByStatus: c.IntrospectByStatus,
		IDTokenAlg: c.IDTokenAlg, IDTokenClaims: c.IDTokenClaims, UserinfoContentType: c.UserinfoContentType, SelfRegistered: c.SelfRegistered, Created: c.Since,
		VariantB: c.VariantB, FrameOrigins: c.FrameOrigins, RequireState: string(c.RequireState),
	}
	for _, g := range c.Grants {
		d.Grants = append(d.Grants, string(g))
	}
	for g, end := range c.Until {
		if d.DeprecatedGrants == nil {
			d.DeprecatedGrants = make(map[string]string)
		}
		d.DeprecatedGrants[string(g)] = end.UTC().Format(time.DateOnly)
	}
	return d
}

// definitionOf gives the operator's view of a record.
func (c *Clients) definitionOf(k store.Client) Definition {
	d := Describe(clientOf(k))
	d.UnusedUntil = k.UnusedUntil
	now := c.Now()
	for _, s := range k.Secrets {
		if s.Live(now) {
			d.Secrets = append(d.Secrets, Secret{s.Created, s.Until})
		}
	}
	return d
}

// applyDefinition puts a definition into a record and checks the whole. What a definition only
// tells stays as it was.
func (c *Clients) applyDefinition(d Definition, k store.Client) (store.Client, error) {
	until := make(map[oauth.GrantType]time.Time)
	k.DeprecatedUntil = nil
	for g, day := range d.DeprecatedGrants {
		end, err := oauth.ParseEnd(day)
		if err != nil {
			return k, invalidField("deprecated_grants", fmt.Errorf("deprecated grant %s: %w", g, err))
		}
		if k.DeprecatedUntil == nil {
			k.DeprecatedUntil = make(map[string]time.Time)
		}
		k.DeprecatedUntil[g], until[oauth.GrantType(g)] = end, end
	}
	k.Name, k.Owner, k.AuthMethod, k.JWKS, k.Native = d.Name, d.Owner, d.AuthMethod, d.JWKS, d.Native
	k.RedirectURIs, k.PostLogoutRedirectURIs, k.Origins = d.RedirectURIs, d.PostLogoutRedirectURIs, d.Origins
	k.Scopes, k.DefaultScopes, k.Audience = d.Scopes, d.DefaultScopes, d.Audience
	k.Trusted, k.Introspect, k.IntrospectByStatus = d.Trusted, d.Introspect, d.IntrospectByStatus
	k.IDTokenAlg, k.IDTokenClaims, k.UserinfoContentType = d.IDTokenAlg, d.IDTokenClaims, d.UserinfoContentType
	k.VariantB, k.FrameOrigins = d.VariantB, d.FrameOrigins
	rule, _ := oauth.NamedStateRule(d.RequireState) // check refuses what is none
	k.RequireState = string(rule)
	k.Grants = nil
	for _, g := range oauth.ChosenGrants(d.Grants, len(d.RedirectURIs) > 0, until) {
		k.Grants = append(k.Grants, string(g))
	}
	return k, c.checkRecord(k)
}

// checkRecord judges a record as a configuration would be judged.
func (c *Clients) checkRecord(k store.Client) error {
	client := clientOf(k)
	for _, s := range k.Secrets { // those that end count too: rotation is no change of kind
		client.SecretHashes = append(client.SecretHashes, s.Hash)
	}
	known := c.Scopes
	if known == nil {
		known = slices.Concat(k.Scopes, k.DefaultScopes)
	}
	if err := client.Check(known); err != nil {
		return &InvalidError{err}
	}
	if k.JWKS != "" {
		if _, err := token.ParseClientKeys(k.JWKS); err != nil {
			return invalidField("jwks", fmt.Errorf("jwks: %w", err))
		}
	}
	return nil
}

// effectiveClient is the client as it may act now. last is what registration permitted before it was
// closed, nil if it is open or that is not known.
func (c *Clients) effectiveClient(k store.Client, last *store.Registration) *oauth.Client {
	client := clientOf(k)
	ceiling := c.RegisteredScopes
	if last != nil {
		ceiling, client.RegisteredAudience = last.Scopes, last.Audience
	}
	now := c.Now()
	for _, s := range k.Secrets {
		if s.Live(now) {
			client.SecretHashes = append(client.SecretHashes, s.Hash)
		}
	}
	client.Scopes, client.DefaultScopes = c.permittedScopes(k, k.Scopes, ceiling), c.permittedScopes(k, k.DefaultScopes, ceiling)
	if !k.VariantB && client.ActsForPeople() && !slices.Contains(client.Scopes, "offline_access") {
		client.Scopes = append(client.Scopes, "offline_access")
	}
	if k.SelfRegistered && len(client.DefaultScopes) == 0 {
		// A registration cannot say which scopes are the default, so a client that names none
		// gets those that the answer to its registration listed (RFC 6749 section 3.3), except
		// offline_access, which has to be asked for.
		client.DefaultScopes = slices.DeleteFunc(c.permittedScopes(k, k.Scopes, ceiling), func(s string) bool { return s == "offline_access" })
	}
	return client
}

// permittedScopes are those of a client's scopes that it may have now. ceiling is the most that
// registered clients may have, nil for whatever they registered.
func (c *Clients) permittedScopes(k store.Client, scopes, ceiling []string) []string {
	scopes = c.declaredScopes(scopes)
	if !k.SelfRegistered || k.ScopeLimit != nil || ceiling == nil {
		return scopes // by an operator's choice, or as they were registered
	}
	return slices.DeleteFunc(scopes, func(s string) bool { return !slices.Contains(ceiling, s) })
}

func (c *Clients) declaredScopes(scopes []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool {
		return c.Scopes != nil && !slices.Contains(c.Scopes, s) && !slices.Contains(oauth.VariantBScopes, s)
	})
}

// clientOf is the record in the protocol's words, without secrets.
func clientOf(k store.Client) *oauth.Client {
	client := &oauth.Client{
		ID: k.ID, Name: k.Name, Owner: k.Owner, AuthMethod: k.AuthMethod, JWKS: k.JWKS, Public: k.Public, Native: k.Native,
		RedirectURIs: k.RedirectURIs, PostLogoutRedirectURIs: k.PostLogoutRedirectURIs, Origins: k.Origins,
		Scopes: k.Scopes, DefaultScopes: k.DefaultScopes, Audience: k.Audience, Trusted: k.Trusted, Introspect: k.Introspect, IntrospectByStatus: k.IntrospectByStatus,
		IDTokenAlg: k.IDTokenAlg, IDTokenClaims: k.IDTokenClaims, UserinfoContentType: k.UserinfoContentType, SelfRegistered: k.SelfRegistered, RegisteredAudience: k.RegisteredAudience, Since: k.Created,
		VariantB: k.VariantB, FrameOrigins: k.FrameOrigins, RequireState: oauth.StateRule(k.RequireState),
	}
	for _, g := range k.Grants {
		client.Grants = append(client.Grants, oauth.GrantType(g))
	}
	for g, end := range k.DeprecatedUntil {
		if client.Until == nil {
			client.Until = make(map[oauth.GrantType]time.Time)
		}
		client.Until[oauth.GrantType(g)] = end
	}
	return client
}
