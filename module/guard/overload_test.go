package guard

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// remembering is a verifier that has seen one of its tokens before.
type remembering struct{ tokens }

func (remembering) Cached(raw string) bool { return raw == "read" }

// Under overload a guard refuses what would pass or cost a signature, tells known tokens
// from others, and answers the rest as ever.
func TestOverloadedGuardAdmitsBeforeVerifying(t *testing.T) { // N10
	admitKnown := false
	g := build(t, func(c *Config) {
		c.Verifier = remembering{known()}
		c.Admit = func(_ context.Context, raw string, known func(string) bool) (int, bool) {
			if raw != "" && known(raw) && admitKnown {
				return 0, true
			}
			return 7, false
		}
	})
	for _, c := range []struct {
		path, token string
		admitKnown  bool
		want        Reason
	}{
		{"/articles", "read", false, Overloaded},
		{"/articles", "read", true, Valid},
		{"/articles", "both", true, Overloaded},
		{"/articles", "forged", true, Overloaded},
		{"/health", "", true, Overloaded},
		{"/articles", "", true, NoCredentials},
		{"/nothing", "read", true, NoRule},
		{"/articles?access_token=read", "", true, BadRequest},
	} {
		admitKnown = c.admitKnown
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		d := g.Decide(r)
		if d.Reason != c.want || d.Reason == Overloaded && (d.Allowed || d.Status != http.StatusServiceUnavailable || d.Code != "unavailable" || d.RetryAfter != 7) {
			t.Errorf("%s %s: %+v", c.path, c.token, d)
		}
	}
}
