package authserver

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// deprecatedSince is when RFC 9700 came out, which says not to use these grants.
var deprecatedSince = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

var (
	errNotOffered   = oauth.E(oauth.UnsupportedGrantType, "this grant_type is not offered")
	errNotThisGrant = oauth.E(oauth.UnauthorizedClient, "the client may not use this grant type")
)

// mayUse decides whether a client may use a grant type now, nil for yes: what it has works
// whether or not it is known yet that somebody has it. An optional one that nobody may use
// is as unknown as any other word; one whose date has come is refused with the date, for
// the developer who finds an application stopped.
func (s *Server) mayUse(c *oauth.Client, g oauth.GrantType) *oauth.Error {
	until, dated := c.Until[g]
	switch {
	case !c.MayUse(g), !dated && slices.Contains(oauth.DeprecatedGrantTypes, g):
		if slices.Contains(oauth.OptionalGrantTypes, g) && !slices.Contains(s.Clients.OptionalGrants(), g) {
			return errNotOffered
		}
		return errNotThisGrant
	case c.Ended(g, s.Now()):
		return oauth.E(oauth.UnauthorizedClient,
			"this grant type is deprecated and the client could use it until "+until.UTC().Format(time.RFC3339))
	}
	return nil
}

// usedDeprecated counts and records that a grant of the past was used.
func (s *Server) usedDeprecated(ctx context.Context, c *oauth.Client, g oauth.GrantType, subject string) {
	s.Metrics.DeprecatedGrant(string(g))
	s.Audit.Record(ctx, audit.Event{Name: audit.DeprecatedGrant, Client: c.ID, Subject: subject, Reason: string(g)})
}

// sunset tells the client's developer, where the answer can carry it: that the grant is
// deprecated (RFC 9745) and when it ends (RFC 8594).
func sunset(answer http.Header, until time.Time) {
	answer.Set("Deprecation", "@"+strconv.FormatInt(deprecatedSince.Unix(), 10))
	answer.Set("Sunset", until.UTC().Format(http.TimeFormat))
}
