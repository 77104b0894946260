package gateway

import (
	"regexp"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// requestNumber finds the number on an error page.
var requestNumber = regexp.MustCompile(`request number: <code translate="no"><bdi>([0-9a-f-]{36})</bdi>`)

// S13: an error page shows the number by which the logs know the request, so that a person
// can tell it to those who can look there.
func TestErrorPageShowsItsRequestID(t *testing.T) {
	g := logged(t)
	b := harness.NewBrowser(t, g.ID)
	seen := map[string]bool{}
	for i, address := range []string{"/authorize", "/authorize?client_id=nobody&response_type=code", "/nothing", "/connect/confirm?uuid=x"} {
		p := b.Get(g.ID + address)
		found := requestNumber.FindStringSubmatch(p.Body)
		if p.Status < 400 || found == nil {
			t.Fatalf("%s: %d shows no number: %s", address, p.Status, p.Body)
		}
		if seen[found[1]] {
			t.Errorf("%s: the number of another request", address)
		}
		seen[found[1]] = true
		if all := lines(t, g, "id.log", i+1); field(all[i], "uuid") != found[1] {
			t.Errorf("%s: the page says %s and the log %v", address, found[1], field(all[i], "uuid"))
		}
	}
	if p := b.Get(authorizeURL(g, "web")); requestNumber.MatchString(p.Body) {
		t.Errorf("a page that is no error shows a number: %s", p.Body)
	}
}
