package stockclients

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S23: a sign-in proxy with the gateway as its provider, with the lines of the recipe.
func TestOAuth2ProxyPassesTheUserToAnApplication(t *testing.T) {
	const section = "A sign-in proxy"
	port := harness.FreePorts(t, 1)[0]
	portal := "http://localhost:" + strconv.Itoa(port)
	g := begin(t, clientsOf(t, section, "https://portal.example.com", portal))
	api := harness.NewUpstream(t)
	a := &protected{t: t, address: portal, api: api, apache: startApache(t, port, recipe(t, section, "apache",
		"https://id.example.com", g.ID, "https://portal.example.com", portal, "10.0.0.20:9000", api.Addr, "Expiry 3540", "Expiry 3599", " # openssl rand -base64 33", ""))}

	// A script is refused, a browser is sent to sign in.
	a.wantRefused(a.ask("GET", "/a", "", "X-Requested-With", "XMLHttpRequest"), http.StatusUnauthorized, "")
	a.wantRefused(a.ask("GET", "/a", "x.y.z", "X-Requested-With", "XMLHttpRequest"), http.StatusUnauthorized, "")
	b := harness.NewBrowser(t, g.ID)
	asked := visit(t, b, portal+"/a?x=1")
	if at := asked.Location(t).String(); !strings.HasPrefix(at, g.ID+"/authorize?") || len(api.Hits()) != 0 {
		t.Fatalf("S23 sent to %s", at)
	}
	back := b.Authorize(asked.Location(t).String(), username, password)
	in := b.Get(back.String())
	if at := in.Header.Get("Location"); in.Status != http.StatusFound || at != portal+"/a?x=1" {
		t.Fatalf("S23 the answer leads to %d %q: %s\n%s", in.Status, at, in.Body, a.apache.log())
	}
	as := func(header ...string) harness.Page {
		return harness.Send(t, b.Client, http.MethodGet, portal+"/a?x=1", "", append(header, forged("X-Auth-Subject", "X-Auth-User", "X-Auth-Email")...)...)
	}
	if p := as("Authorization", "Bearer x.y.z"); p.Status != http.StatusOK {
		t.Fatalf("S23 a signed-in user: %d %s\n%s", p.Status, p.Body, a.apache.log())
	}
	hit := a.wantIdentity("/a?x=1", map[string]string{"X-Auth-Subject": "u-1", "X-Auth-User": username, "X-Auth-Email": "alice@example.com"})
	if cookie := hit.Header.Get("Cookie"); strings.Contains(cookie, "session") {
		t.Errorf("S23 the application saw %s", cookie)
	}
	for _, fields := range odd() {
		a.wantRefused(as(fields...), http.StatusForbidden, "")
	}

	// An administrator ends what the user granted, and with it the session at the proxy.
	r, err := http.NewRequest(http.MethodDelete, g.Admin+"/gatehouse/users/u-1/grants", nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := harness.Do(t, http.DefaultClient, r); p.Status >= 300 {
		t.Fatalf("%d %s", p.Status, p.Body)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		p := as("X-Requested-With", "XMLHttpRequest")
		if p.Status != http.StatusOK {
			api.Hits()
			a.wantRefused(as("X-Requested-With", "XMLHttpRequest"), http.StatusUnauthorized, "")
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("S23 the session goes on\n%s", a.apache.log())
		}
	}
}
