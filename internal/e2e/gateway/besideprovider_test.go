package gateway

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// besideSite has an API on the issuer's host, which a second provider of Caddy's handler
// `authentication` serves too, and one that knows callers by their identity headers.
var besideSite = site[:strings.Index(site, "http://$ID {")] + `
http://$ID {
	oauth_server
	oauth_authentication
	reverse_proxy $UPSTREAM
}
http://$API {
	route {
		oauth_guard {
			public * /*
			forward_token
		}
		oauth_authentication
		reverse_proxy $UPSTREAM
	}
}
`

func startBeside(t *testing.T) (*harness.Gateway, *harness.Upstream) {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("hush"), bcrypt.MinCost)
	harness.FailOn(t, err)
	g, up := prepare(t)
	g.ChangeConfigs(func(config []byte) []byte {
		basic := `"providers":{"http_basic":{"hash":{"algorithm":"bcrypt"},"accounts":[{"username":"bob","password":"` + string(hash) + `"}]},`
		return bytes.ReplaceAll(config, []byte(`"providers":{"gatehouse":{`), []byte(basic+`"gatehouse":{`))
	})
	g.Start(t, besideSite)
	return g, up
}

// bobsCredentials are for the other provider.
const bobsCredentials = "Authorization: Basic Ym9iOmh1c2g="

// What the gateway's provider does with a request that it refuses must not hurt one that another
// provider accepts. Caddy asks them in any order.
func TestOtherProvidersUserIsNotTreatedAsRefused(t *testing.T) { // S24, N19
	g, up := startBeside(t)
	up.Answer(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		w.Header().Add("Set-Cookie", "gatehouse=forged; Path=/")
		w.Header().Add("Set-Cookie", "own=1")
		_, _ = fmt.Fprintf(w, "%s %v", body, err)
	})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			c, host, err := dial(g.ID)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()
			_, _ = fmt.Fprintf(c, "POST /thing HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Length: 2\r\n\r\na", host, bobsCredentials)
			time.Sleep(bodyTime + time.Second)
			_, _ = io.WriteString(c, "b")
			p, err := readPage(bufio.NewReader(c), http.MethodPost)
			if err != nil || p.Status != http.StatusOK || p.Body != "ab <nil>" {
				t.Errorf("%d %q: %v", p.Status, p.Body, err)
			}
			if got := p.Header.Values("Set-Cookie"); len(got) != 1 || got[0] != "own=1" {
				t.Errorf("the API set %q", got)
			}
		})
	}
	wg.Wait()
	if p := harness.Wire(t, g.ID, "GET /thing"); p.Status != http.StatusUnauthorized {
		t.Errorf("%d %s", p.Status, p.Body)
	}
}

func TestGuardRemovesForgedIdentitiesForOtherProviders(t *testing.T) { // S25
	g, up := startBeside(t)
	access, _ := g.Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}}).JSON(t)["access_token"].(string)
	for range 8 { // Caddy asks the providers in any order
		for credentials, client := range map[string]string{bobsCredentials: "", "Authorization: Bearer " + access: "machine"} {
			p := harness.Wire(t, g.API, "GET /thing", credentials, "X-Auth-Subject: u-1", "x-auth_client: forged", "Cookie: own=2; gatehouse=session")
			if p.Status != http.StatusOK {
				t.Errorf("%d %s", p.Status, p.Body)
			}
			for _, hit := range wantHits(t, up, 1) {
				h := hit.Header
				if h.Get("X-Auth-Subject") != "" || h.Get("X-Auth_client") != "" || h.Get("X-Auth-Client") != client || h.Get("Cookie") != "own=2" {
					t.Errorf("the API got %v", h)
				}
			}
		}
	}
	if p := harness.Wire(t, g.API, "GET /thing"); p.Status != http.StatusUnauthorized {
		t.Errorf("%d %s", p.Status, p.Body)
	}
	wantHits(t, up, 0)
}
