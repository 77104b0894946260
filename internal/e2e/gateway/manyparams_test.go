package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Parsers of queries give up behind so many parameters, and what looks at the parsed ones
// sees less than the upstream (CVE-2026-39825, CVE-2022-2880). Nothing hides behind
// thousands of names here.
func TestThousandsOfParametersHideNothing(t *testing.T) {
	g, up := startSite(t, trustingSite)
	access, _ := wantTokens(t, g.Token(t, machine, credentialsForm))
	filler := strings.Repeat("a&", 6000) // as much as fits into a request line here
	for name, query := range map[string]string{
		"a token behind 6,000 names": filler + "access_token=" + access, "behind a fault of the query": "%zz&;;&" + filler + "access_token=" + access,
		"behind names alike": strings.Repeat("access_toke=x&", 800) + "access_token=" + access,
	} {
		t.Run("H05 "+name, func(t *testing.T) {
			for _, path := range []string{"/read", "/public"} {
				p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+path+"?"+query, "", "Authorization", "Bearer "+access, "X-Forwarded-For", somebody())
				wantEnvelope(t, p, http.StatusBadRequest, "invalid_request")
			}
			wantHits(t, up, 0)
		})
	}
	t.Run("H05 what is passed on is what was judged", func(t *testing.T) {
		p := send(t, harness.NewBrowser(t, ""), http.MethodGet, g.API+"/read?"+filler+"last=1", "", "Authorization", "Bearer "+access)
		if p.Status != http.StatusOK {
			t.Fatalf("%d %s", p.Status, p.Body)
		}
		if got := wantHits(t, up, 1)[0].URL.RawQuery; got != filler+"last=1" {
			t.Errorf("%d bytes of %d", len(got), len(filler)+6)
		}
	})
	t.Run("a second redirect_uri behind thousands of names", func(t *testing.T) {
		b := harness.NewBrowser(t, g.ID)
		for _, more := range []string{strings.Repeat("a&", 1500), filler} {
			p := b.Get(authorizeURL(g, "web") + "&" + more + "redirect_uri=https://evil.example/cb")
			if p.Header.Get("Location") != "" || p.Status < 400 || p.Status > 499 {
				t.Errorf("%d %s", p.Status, p.Header.Get("Location"))
			}
		}
	})
	t.Run("a second client_id behind thousands of names", func(t *testing.T) {
		body := credentialsForm.Encode() + "&" + strings.Repeat("a&", 20_000) + "client_id=web"
		wantOAuth(t, post(t, g, body, "Authorization", basic(machine.ID, machine.Secret)), http.StatusBadRequest, "invalid_request")
	})
}
