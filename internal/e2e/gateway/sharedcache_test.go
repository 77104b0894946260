package gateway

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"
)

// A shared cache in front of the gateway must not give a guarded response to somebody without a token, and nginx 1.22
// heeds only the last line of Vary.
func TestStorableResponsesOfGuardedRoutesVaryByToken(t *testing.T) {
	for name, guard := range map[string]string{"": "", " with cors": "cors " + app} {
		t.Run("behind a guard"+name, func(t *testing.T) {
			g, up := start(t, "$GUARD", guard, "\toauth_guard {", "\tencode {\n\t\tminimum_length 9\n\t}\n\toauth_guard {")
			token, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
			for _, c := range []struct {
				path, token, control string
				want                 bool
			}{
				{"/read", token, "public, max-age=60", true},
				{"/read", token, "max-age=60", true},
				{"/read", token, "private, max-age=60", false},
				{"/read", token, "", false},
				{"/public", "", "public, max-age=60", false},
			} {
				up.Answer(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/plain")
					if c.control != "" {
						w.Header().Set("Cache-Control", c.control)
					}
					_, _ = io.WriteString(w, "long enough for a site to encode")
				})
				p := g.Call(t, http.MethodGet, c.path, c.token)
				lines, stored := p.Header["Vary"], strings.Contains(c.control, "max-age") && !strings.Contains(c.control, "private")
				if got := httpguts.HeaderValuesContainsToken(lines, "Authorization"); p.Status != http.StatusOK || got != c.want || stored && len(lines) != 1 {
					t.Errorf("%s, %s: %d, Vary %q", c.path, c.control, p.Status, lines)
				}
			}
		})
	}
}
