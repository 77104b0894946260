package gateway

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// Client is an application that may ask for tokens.
type Client struct {
	oauth.Client
	// Secrets, at least 32 characters each, any of which authenticates. Best given as
	// placeholders such as `{env.READER_SECRET}`, resolved when the configuration is
	// loaded. Default: none.
	Secrets []string `json:"secrets,omitempty"`
	// Secrets as `sha256:` and 64 hexadecimal digits. The Caddyfile adapter puts
	// literal secrets here. Default: none.
	SecretHashes []string `json:"secret_hashes,omitempty"`
	// Grant types of the past, `implicit` and `password`, each with the day on which it
	// ends as `YYYY-MM-DD`: from 00:00 UTC of that day it is refused. RFC 9700 section 2
	// says not to use them; there is a warning at every load. Answers for `password` carry
	// the headers Deprecation and Sunset; those of a redirect would reach no application. Default: none.
	DeprecatedGrants map[string]string `json:"deprecated_grants,omitempty"`
}

// CheckKind reports what is wrong with id, authentication and grant types: what can be
// said of a client without knowing the rest of the configuration.
func (c Client) CheckKind() error {
	if c.VariantB && len(c.Grants) > 0 {
		return &oauth.FieldError{Fields: []string{"variant_b", "grants"}, Err: errors.New("a variant_b client cannot have grants: remove it")}
	}
	resolved, err := c.resolve()
	if err != nil {
		return err
	}
	return resolved.CheckKind()
}

// resolve is the client as it is checked, wherever it comes from. Secrets and keys are as they
// were written, because only their number counts.
func (c Client) resolve() (*oauth.Client, error) {
	client := c.Client
	client.SecretHashes = slices.Concat(c.SecretHashes, c.Secrets)
	err := client.Resolve(c.DeprecatedGrants)
	return &client, err
}

// warnOfClients reminds at every load of the clients that are exempt from a rule: those with
// deprecated grants, and sites that send no state.
func (a *App) warnOfClients(now time.Time) {
	for _, c := range a.Clients {
		if c.RequireState == oauth.StateNever {
			a.log.Warn("a client may sign people in without state: its site must stop forged sign-ins by other means", "client", c.ID)
		}
		for _, g := range slices.Sorted(maps.Keys(c.DeprecatedGrants)) {
			until := c.DeprecatedGrants[g]
			if end, err := oauth.ParseEnd(until); err == nil && !now.Before(end) {
				a.log.Warn("the end of a deprecated grant has come: it is refused", "client", c.ID, "grant", g, "until", until)
				continue
			}
			a.log.Warn("a client may use a deprecated grant", "client", c.ID, "grant", g, "until", until)
		}
	}
}
