package authserver

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// audienceOf is what is configured for the client.
func (s *Server) audienceOf(c *oauth.Client) []string {
	if len(c.Audience) > 0 {
		return c.Audience
	}
	return s.Audience
}

// audience is what a token is for (RFC 8707 section 2.2): of what is configured for the
// client, the part that the user's authorization was narrowed to, empty for all, and of
// that the part this request asks for.
func (s *Server) audience(c *oauth.Client, granted, asked []string) ([]string, error) {
	all := s.audienceOf(c)
	if len(granted) > 0 {
		all = slices.DeleteFunc(slices.Clone(granted), func(r string) bool { return !slices.Contains(all, r) })
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
	if !oauth.Subset(asked, all) {
		return nil, oauth.E(oauth.InvalidTarget, "the resource is unknown or not one of this client or authorization")
	}
	return slices.Compact(slices.Sorted(slices.Values(asked))), nil
}
