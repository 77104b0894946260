// Package audience decides which APIs a client's access tokens are for: what is configured, and what a request
// narrows it to (RFC 8707). It knows neither tokens nor requests.
package audience

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// Config says what access tokens are for when the client does not.
type Config struct {
	// Default is the audience of tokens of clients without one of their own.
	Default []string
	// Registered replaces Default for clients that registered themselves, if it is not empty.
	Registered []string
	// RegistrationOpen says that clients can register themselves, so Registered applies. Once registration is closed,
	// clients keep the audience that applied when they registered: closing it widens nothing.
	RegistrationOpen bool
}

// Of returns the audience of a client's tokens, with everything that may be asked for.
func (c Config) Of(client *oauth.Client) []string {
	switch {
	case len(client.Audience) > 0:
		return client.Audience
	case client.SelfRegistered && c.RegistrationOpen && len(c.Registered) > 0:
		return c.Registered
	case client.SelfRegistered && !c.RegistrationOpen && len(client.RegisteredAudience) > 0:
		return client.RegisteredAudience
	}
	return c.Default
}

// Narrow returns the audience of a token (RFC 8707 section 2.2): of what is configured for the client the part that
// was granted (empty: all), and of that the part that was asked for (empty: all). Errors are [oauth.Error].
func (c Config) Narrow(client *oauth.Client, granted, asked []string) ([]string, error) {
	all := c.Of(client)
	if len(granted) > 0 {
		all = stillConfigured(granted, all)
		if len(all) == 0 {
			return nil, oauth.E(oauth.InvalidTarget, "the client's tokens can no longer be for the resource of the authorization")
		}
	}
	if len(asked) == 0 {
		return all, nil
	}
	for _, r := range asked {
		if u, err := url.Parse(r); err != nil || !u.IsAbs() || strings.Contains(r, "#") {
			return nil, oauth.E(oauth.InvalidTarget, "resource must be an absolute URI without a fragment")
		}
	}
	found, ok := findConfigured(asked, all)
	if !ok {
		return nil, oauth.E(oauth.InvalidTarget, "the resource is unknown or not one of this client or authorization")
	}
	return slices.Compact(slices.Sorted(slices.Values(found))), nil
}

// Known returns those of the resources asked for that are configured for the client.
func (c Config) Known(client *oauth.Client, asked []string) []string {
	found, _ := findConfigured(asked, c.Of(client))
	return found
}

// stillConfigured returns the granted resources that are configured still. A grant stores configured resources, so
// one that is gone is not replaced by the resource above it, which would widen the grant.
func stillConfigured(granted, all []string) []string {
	var found []string
	for _, r := range granted {
		if at := indexOfResource(all, r); at >= 0 {
			found = append(found, all[at])
		}
	}
	return found
}

// findConfigured returns the configured resources that are meant by asked, as they are configured; ok reports whether
// all of asked were found.
func findConfigured(asked, all []string) (found []string, ok bool) {
	ok = true
	for _, r := range asked {
		at := indexOfResource(all, r)
		if at < 0 {
			at = indexAbove(all, r)
		}
		if at < 0 {
			ok = false
			continue
		}
		found = append(found, all[at])
	}
	return found, ok
}

// indexOfResource finds a resource, with or without the slash of an address's root. If both forms are configured, it
// finds the one that was asked for. -1 for none.
func indexOfResource(all []string, resource string) int {
	if at := slices.Index(all, resource); at >= 0 {
		return at
	}
	return slices.IndexFunc(all, func(c string) bool { return withoutRootSlash(c) == withoutRootSlash(resource) })
}

// indexAbove finds the nearest resource above an address; -1 for none. A client that knows one address of an API,
// such as /mcp, asks for tokens for that address (RFC 9728 section 3.3); its tokens are for the API, as RFC 8707
// section 2 permits.
func indexAbove(all []string, address string) int {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.EscapedPath() != u.Path || strings.Contains(u.Path, "//") {
		return -1
	}
	if clean := path.Clean(u.Path); u.Path != clean && u.Path != clean+"/" {
		return -1
	}
	nearest := -1
	for i, c := range all {
		scheme, _, _ := strings.Cut(c, "://")
		above := strings.HasPrefix(address, strings.TrimSuffix(c, "/")+"/") && (scheme == "https" || scheme == "http")
		if above && (nearest < 0 || len(c) > len(all[nearest])) {
			nearest = i
		}
	}
	return nearest
}

// withoutRootSlash cuts the path of an http address if it is only "/": RFC 3986 section 6.2.3 makes it equal to an
// empty path, and client libraries write either. Other paths stay.
func withoutRootSlash(resource string) string {
	scheme, rest, ok := strings.Cut(resource, "://")
	host, isRoot := strings.CutSuffix(rest, "/")
	if ok && (scheme == "https" || scheme == "http") && isRoot && host != "" && !strings.ContainsAny(host, "/?") {
		return scheme + "://" + host
	}
	return resource
}
