package gateway

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// CheckKind reports what is wrong with id, authentication and grant types: what can be
// said of a client without knowing the rest of the configuration.
func (c Client) CheckKind() error {
	if c.VariantB && len(c.Grants) > 0 {
		return &oauth.FieldError{Fields: []string{"variant_b", "grants"}, Err: errors.New("a variant_b client cannot have grants: remove it")}
	}
	protocol, err := c.protocol()
	if err != nil {
		return err
	}
	return protocol.CheckKind()
}

// protocol is the client in the protocol's words, by which clients are judged wherever
// they come from. Secrets and keys are as they were written: how many there are counts.
func (c Client) protocol() (*oauth.Client, error) {
	out := &oauth.Client{
		ID: c.ID, Name: c.Name, Owner: c.Owner, Public: c.Public, AuthMethod: c.AuthMethod, Native: c.Native, Trusted: c.Trusted,
		SecretHashes: slices.Concat(c.SecretHashes, c.Secrets), JWKS: c.JWKS,
		RedirectURIs: c.RedirectURIs, PostLogoutRedirectURIs: c.PostLogoutRedirectURIs, Origins: c.Origins,
		Scopes: c.Scopes, DefaultScopes: c.DefaultScopes, Audience: c.Audience, Introspect: c.Introspect, IntrospectByStatus: c.IntrospectByStatus,
		IDTokenAlg: c.IDTokenAlg, IDTokenClaims: c.IDTokenClaims, UserinfoContentType: c.UserinfoContentType,
		VariantB: c.VariantB, FrameOrigins: c.FrameOrigins,
	}
	out.RequireState, _ = oauth.NamedStateRule(c.RequireState) // Check refuses what is none
	for g, day := range c.DeprecatedGrants {
		end, err := oauth.ParseEnd(day)
		if err != nil {
			return nil, &oauth.FieldError{Fields: []string{"deprecated_grants"}, Err: fmt.Errorf("deprecated grant %s: %w", g, err)}
		}
		if out.Until == nil {
			out.Until = make(map[oauth.GrantType]time.Time)
		}
		out.Until[oauth.GrantType(g)] = end
	}
	out.Grants = oauth.ChosenGrants(c.Grants, len(c.RedirectURIs) > 0, out.Until)
	return out, nil
}

// warnOfClients reminds at every load of the clients that are let off a rule: of deprecated
// grants, each of which is to go, and of sites that send no state.
func (a *App) warnOfClients(now time.Time) {
	for _, c := range a.Clients {
		if c.RequireState == string(oauth.StateNever) {
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
