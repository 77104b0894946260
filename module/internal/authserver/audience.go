package authserver

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// audienceOf is what is configured for the client, for all that registered themselves, or
// for all. Closing registration widens nothing: what was configured last goes on to hold.
func (s *Server) audienceOf(c *oauth.Client) []string {
	switch {
	case len(c.Audience) > 0:
		return c.Audience
	case c.SelfRegistered && s.Registration != nil && len(s.Registration.Audience) > 0:
		return s.Registration.Audience
	case c.SelfRegistered && s.Registration == nil && len(c.RegisteredAudience) > 0:
		return c.RegisteredAudience
	}
	return s.Audience
}

// audience is what a token is for (RFC 8707 section 2.2): of what is configured for the
// client, the part that the user's authorization was narrowed to, empty for all, and of
// that the part this request asks for.
func (s *Server) audience(c *oauth.Client, granted, asked []string) ([]string, error) {
	all := s.audienceOf(c)
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
	found, ok := configuredResources(asked, all)
	if !ok {
		return nil, oauth.E(oauth.InvalidTarget, "the resource is unknown or not one of this client or authorization")
	}
	return slices.Compact(slices.Sorted(slices.Values(found))), nil
}

// stillConfigured returns those of all that were granted, as they are configured now. A
// grant stores configured resources, so one that is gone is not replaced by the resource
// above it, which would widen the grant.
func stillConfigured(granted, all []string) []string {
	var found []string
	for _, r := range granted {
		if at := indexOfResource(all, r); at >= 0 {
			found = append(found, all[at])
		}
	}
	return found
}

// configuredResources returns those of all that are meant by asked, as they are configured.
// ok reports whether each of asked is one of them.
func configuredResources(asked, all []string) (found []string, ok bool) {
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

// indexOfResource finds a resource with or without the slash of an address's root, and as it
// is written where both are there; -1 for none.
func indexOfResource(all []string, resource string) int {
	if at := slices.Index(all, resource); at >= 0 {
		return at
	}
	return slices.IndexFunc(all, func(c string) bool { return withoutRootSlash(c) == withoutRootSlash(resource) })
}

// indexAbove finds the resource below which an address is, the nearest of several; -1 for
// none. A client that knows one address of an API, such as /mcp, asks for tokens for that
// (RFC 9728 section 3.3); they are for the API, as RFC 8707 section 2 permits.
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

// withoutRootSlash cuts the path of an http address that is "/" alone: RFC 3986 section 6.2.3
// takes it and the empty one for the same, and client libraries write either. Any other path
// stays as it is.
func withoutRootSlash(resource string) string {
	scheme, rest, ok := strings.Cut(resource, "://")
	host, isRoot := strings.CutSuffix(rest, "/")
	if ok && (scheme == "https" || scheme == "http") && isRoot && host != "" && !strings.ContainsAny(host, "/?") {
		return scheme + "://" + host
	}
	return resource
}
