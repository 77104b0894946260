package clientstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/clientassertion"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
)

// Definition is a client as an operator sees it: no secret and no hash of one.
//
// Create makes the ID if it is empty. ID, Public and VariantB never change: codes and tokens
// of one dialect are not valid in the other.
type Definition struct {
	oauth.Client
	// DeprecatedGrants name the day (YYYY-MM-DD, UTC) from which each is refused.
	DeprecatedGrants map[string]string `json:"deprecated_grants,omitempty"`

	// What follows is read-only: Create and Update ignore it.

	Created time.Time `json:"created,omitzero"`
	// Secrets that authenticate at this moment, the oldest first.
	Secrets []Secret `json:"secrets,omitempty"`
	// SelfRegistered clients came by RFC 7591.
	SelfRegistered bool `json:"self_registered,omitempty"`
	// UnusedUntil is when an unused registration ends; zero: never.
	UnusedUntil time.Time `json:"unused_until,omitzero"`
}

// Secret is one of a client's secrets.
type Secret struct {
	Created time.Time `json:"created"`
	// Until is when it ends because another replaces it; zero: it does not.
	Until time.Time `json:"until,omitzero"`
}

// Describe returns the operator's view of a client, wherever it is kept.
func Describe(c *oauth.Client) Definition {
	d := Definition{Client: *c, SelfRegistered: c.SelfRegistered, Created: c.Since}
	d.SecretHashes = nil
	for g, end := range c.Until {
		if d.DeprecatedGrants == nil {
			d.DeprecatedGrants = make(map[string]string)
		}
		d.DeprecatedGrants[string(g)] = end.UTC().Format(time.DateOnly)
	}
	return d
}

// definitionOf returns the operator's view of a record.
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

// applyDefinition puts the settings of a definition into a record and checks the whole.
func (c *Clients) applyDefinition(d Definition, k store.Client) (store.Client, error) {
	d.ID, d.Public = k.ID, k.Public
	if err := d.Resolve(d.DeprecatedGrants); err != nil {
		return k, err
	}
	k.Client, k.DeprecatedUntil = d.Client, d.Until
	return k, c.checkRecord(k)
}

// checkRecord checks a record as a configuration is checked.
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
		return err
	}
	if k.JWKS != "" {
		if _, err := clientassertion.ParseKeys(k.JWKS); err != nil {
			return invalid(fmt.Errorf("jwks: %w", err), "jwks")
		}
	}
	return nil
}

// effectiveClient is the client with what it may do now. last is what registration permitted before
// it was closed, nil if it is open or that is unknown.
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
		// A registration cannot say which scopes are the default, so a client that names none gets those that the
		// answer to its registration listed (RFC 6749 section 3.3), except offline_access, which has to be asked for.
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

// clientOf is the client of a record, without secrets.
func clientOf(k store.Client) *oauth.Client {
	client := k.Client
	client.SecretHashes, client.Until, client.Since = nil, k.DeprecatedUntil, k.Created
	client.SelfRegistered, client.RegisteredAudience = k.SelfRegistered, k.RegisteredAudience
	return &client
}
