package gateway

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Every directive of a named route takes effect wherever it is invoked. Caddy alone keeps only
// the first of several: api_errors would remain, and the API be open to everybody.
func TestGuardInNamedRoute(t *testing.T) {
	ports := harness.FreePorts(t, 11)
	address := func(i int) string { return fmt.Sprintf("http://localhost:%d", ports[i]) }
	const guard = "\toauth_guard {\n\t\tpublic GET /open\n\t\tscope read * /articles\n\t}\n"
	named := "&(guarded) {\n\tapi_errors\n" + guard + "\tapi_limit {\n\t\tip 3 1h\n\t}\n}\n" +
		"&(behind) {\n\tencode\n" + guard + "}\n" +
		"&(whole) {\n" + guard + "\treverse_proxy $UPSTREAM\n}\n" +
		"&(around) {\n\thandle {\n\t\theader X y\n\t\tinvoke behind\n\t}\n}\n" +
		"&(matched) {\n\theader X y\n\troute /* {\n" + guard + "\t}\n}\n" +
		"&(deeper) {\n\theader X y\n\troute {\n" + guard + "\t}\n}\n" +
		"&(rooted) {\n\troot /srv\n\thandle {\n" + guard + "\t}\n}\n" +
		"&(indirect) {\n\theader X y\n\tinvoke behind\n}\n" +
		"&(thrice) {\n\theader X y\n\troute {\n\t\tinvoke indirect\n\t}\n}\n" +
		"&(handled) {\n\theader X y\n\t@post method POST\n\thandle @post {\n\t\trespond no 403\n\t}\n\thandle {\n\t\tinvoke behind\n\t}\n}\n"
	sites := address(0) + " {\n\tinvoke guarded\n\treverse_proxy $UPSTREAM\n}\n" +
		address(1) + " {\n\tinvoke behind\n\treverse_proxy $UPSTREAM\n}\n" +
		address(2) + " {\n\tinvoke whole\n}\n"
	for i, name := range []string{"around", "matched", "deeper", "rooted", "indirect", "thrice", "handled", "behind"} {
		sites += address(3+i) + " {\n\tinvoke " + name + "\n\treverse_proxy $UPSTREAM\n}\n"
	}
	_, up := startSite(t, site+named+sites)

	get := func(url string) int {
		t.Helper()
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for i := range ports {
		if status := get(address(i) + "/articles"); status != http.StatusUnauthorized {
			t.Errorf("site %d without a token: %d", i, status)
		}
	}
	if n := len(up.Hits()); n != 0 {
		t.Errorf("the API got %d requests without a token", n)
	}
	for i := range ports {
		if status := get(address(i) + "/open"); status != http.StatusOK {
			t.Errorf("site %d, public path: %d", i, status)
		}
	}
	if n := len(up.Hits()); n != len(ports) {
		t.Errorf("the API got %d public requests", n)
	}
	for range 3 {
		get(address(0) + "/open")
	}
	if status := get(address(0) + "/open"); status != http.StatusTooManyRequests {
		t.Errorf("beyond the limit: %d", status)
	}
}
