package wordpress

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// WordPress runs a GET with `_method` in its query as another method, so a guard that let it pass would have judged another
// request than WordPress runs.
func TestReaderCannotDeleteByGET(t *testing.T) {
	text, err := os.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	before, _, _ := strings.Cut(string(text), "\tapi_rest {")
	g := harness.Start(t, strings.Replace(before, "$QUIET", harness.Quiet, 1)+`
	reverse_proxy $WP {
		header_up Authorization "$AUTHORIZATION"
	}
}
`, "$WP", s.addr, "$AUTHORIZATION", s.authorization)
	reader := harness.NewRESTClient(t, g.ID, g.API, harness.Credentials{ID: "reader", Secret: "reader-secret-0123456789-0123456789-0123456789"})
	made := harness.ReadJSON[struct{ ID int }](t, s.raw(t, "POST", "/wp/v2/posts", url.Values{"title": {"Maps"}, "status": {"publish"}}), 201)
	at := fmt.Sprintf("/index.php?rest_route=/wp/v2/posts/%d", made.ID)
	for _, name := range []string{"_method", "_METHOD", "%5Fmethod", ".method", "+_method", "_method%00"} {
		harness.WantError(t, reader.Do(t, "GET", at+"&"+name+"=DELETE", ""), 400, "invalid_parameter", "_method")
	}
	if p := reader.Do(t, "GET", at, ""); p.Status != 200 || !strings.Contains(p.Body, `"status":"publish"`) {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}
