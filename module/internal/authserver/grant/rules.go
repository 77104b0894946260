package grant

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// deprecatedSince is the publication of RFC 9700, which says not to use these grant types.
var deprecatedSince = time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)

// ErrNotOffered refuses a grant type that does not exist here.
var ErrNotOffered = oauth.E(oauth.UnsupportedGrantType, "this grant_type is not offered")

var errNotThisClient = oauth.E(oauth.UnauthorizedClient, "the client may not use this grant type")

// Rules decides which client may use which grant type. All fields are required.
type Rules struct {
	// OptionalGrants returns those of [oauth.OptionalGrantTypes] that some client may use now.
	OptionalGrants func() []oauth.GrantType
	// CountDeprecated counts uses of deprecated grant types.
	CountDeprecated func(grant string)
	Audit           audit.Sink
	Now             func() time.Time
}

// CheckGrantType refuses a grant type that the client may not use now. An optional grant type that no client may use
// is refused like an unknown one. One that has ended is refused with its date, for the developer whose application
// has stopped working. Errors are [oauth.Error].
//
// A client with an optional grant type may use it even before OptionalGrants knows.
func (r Rules) CheckGrantType(client *oauth.Client, g oauth.GrantType) error {
	until, dated := client.Until[g]
	switch {
	case !client.MayUse(g), !dated && slices.Contains(oauth.DeprecatedGrantTypes, g):
		if slices.Contains(oauth.OptionalGrantTypes, g) && !r.SomebodyMayUse(g) {
			return ErrNotOffered
		}
		return errNotThisClient
	case client.Ended(g, r.Now()):
		return oauth.E(oauth.UnauthorizedClient,
			"this grant type is deprecated and the client could use it until "+until.UTC().Format(time.RFC3339))
	}
	return nil
}

// SomebodyMayUse reports whether any client may use an optional grant type now.
func (r Rules) SomebodyMayUse(g oauth.GrantType) bool {
	return slices.Contains(r.OptionalGrants(), g)
}

// RecordDeprecated counts and records that a deprecated grant type was used.
func (r Rules) RecordDeprecated(ctx context.Context, client *oauth.Client, g oauth.GrantType, subject string) {
	r.CountDeprecated(string(g))
	r.Audit.Record(ctx, audit.Event{Name: audit.DeprecatedGrant, Client: client.ID, Subject: subject, Reason: string(g)})
}

// SetSunset tells the client's developer that the grant type is deprecated (RFC 9745) and when it ends (RFC 8594).
func SetSunset(answer http.Header, until time.Time) {
	answer.Set("Deprecation", "@"+strconv.FormatInt(deprecatedSince.Unix(), 10))
	answer.Set("Sunset", until.UTC().Format(http.TimeFormat))
}
