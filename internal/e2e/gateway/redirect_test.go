package gateway

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// sentAddress is the one place where a page shows the address that was sent: as text, for
// the developer of the application.
var sentAddress = regexp.MustCompile(`<code class="sent" translate="no"><bdi>[^<>"]*</bdi></code>`)

func TestUnregisteredRedirectURIIsNotUsed(t *testing.T) {
	g, _ := start(t)
	b := signedIn(t, g)
	for _, c := range []struct {
		name string
		sent []string
	}{
		{"A04 unregistered", []string{"https://evil.example/cb", "https://other.example/cb", "https://client.example/", "https://client.example", "cb", "/cb", "?", "https://"}},
		{"A05 another path", []string{
			callback + "123", callback + "/", "https://client.example/Cb", callback + "%2f", callback + "/.", callback + "/../cb",
			callback + "/..;/x", callback + "%00", callback + "%0d%0a", "https://client.example//cb", "https://client.example/./cb",
			"https://client.example/%63b", "https://client.example/cb;x", "https://client.example\\cb", callback + "/..;/..;/..;/evil",
		}},
		{"A06 another query or fragment", []string{
			callback + "?x=1", callback + "?", callback + "&x=1", callback + "#f", callback + "#", callback + "%23f", callback + "?code=x",
			callback + "?error=x#code=y", "https://client.example/q?dummy2=ipsum&dummy1=lorem", "https://client.example/q?dummy1=lorem",
			"https://client.example/q?dummy1=lorem&dummy2=ipsum&x=1", "https://client.example/q?dummy1=lorem&dummy2=ipsum#f",
		}},
		{"A08 another host, port or scheme", []string{
			"https://client.example.evil.com/cb", "https://evilclient.example/cb", "https://client.example./cb", "https://client.example:443/cb",
			"HTTPS://CLIENT.EXAMPLE/cb", "https://CLIENT.example/cb", "http://client.example/cb", "https://xn--clent-p4a.example/cb", "https://clіent.example/cb",
			"https://client.example@evil.example/cb", "https://evil.example@client.example/cb", "https://user:pw@client.example/cb",
			"https://evil.example/https://client.example/cb", "https://evil.example#@client.example/cb", "https://evil.example?client.example/cb",
			"https://client.example:8443/cb", "https://client.example%2eevil.example/cb", "https://a@b@client.example/cb",
		}},
		{"A09 what a browser runs or resolves", []string{
			"javascript:alert(1)", "JaVaScRiPt:alert(1)", "javascript://client.example/cb%0aalert(1)", "data:text/html,<script>alert(1)</script>",
			"vbscript:msgbox(1)", "//evil.com", "//client.example/cb", `/\evil.com`, `\\evil.com`, "https:evil.com", "https:client.example/cb", "https:/client.example/cb",
			"https:///client.example/cb", "https://client.example\t/cb", "https://client.example\v/cb", "https://client.example/cb\r\nX: y", "ht\ntps://client.example/cb",
			" " + callback, callback + " ", "\t" + callback, callback + "\n", "\x00" + callback, callback + "\x00", "file:///etc/passwd", "about:blank", "blob:" + callback,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, sent := range c.sent {
				for _, client := range []string{"web", "spa"} {
					p := b.Get(authorizeURL(g, client, "redirect_uri", sent))
					wantPage(t, p, http.StatusBadRequest)
					rest := sentAddress.ReplaceAllString(p.Body, "")
					if strings.Contains(rest, "evil") || len(sent) > 8 && strings.Contains(rest, sent) {
						t.Errorf("%q is in the page: %s", sent, p.Body)
					}
				}
			}
		})
	}
	t.Run("A12 omitted", func(t *testing.T) {
		for _, client := range []string{"web", "spa"} { // two registered, one registered
			for _, address := range []string{authorizeURL(g, client, "redirect_uri", "-"), authorizeURL(g, client, "redirect_uri", "")} {
				wantPage(t, b.Get(address), http.StatusBadRequest)
			}
		}
	})
	t.Run("a fault elsewhere makes no redirect either", func(t *testing.T) {
		for _, changes := range [][]string{{"response_type", "token"}, {"scope", "admin"}, {"prompt", "none"}, {"state", "-"}, {"request", "x"}} {
			wantPage(t, b.Get(authorizeURL(g, "web", append(changes, "redirect_uri", "https://evil.example/cb")...)), http.StatusBadRequest)
		}
	})
}

func TestNativeClientsLoopbackRedirectURIs(t *testing.T) {
	loopback := strings.Replace(site, "redirect_uri https://client.example/cb\n", "redirect_uri https://client.example/cb\n\t\t\tredirect_uri http://127.0.0.1:8080/cb\n", 1)
	g, _ := startSite(t, loopback)
	b := harness.NewBrowser(t, g.ID)
	for _, sent := range []string{"http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:50321/cb", "com.example.app:/cb"} {
		t.Run("A10 "+sent, func(t *testing.T) {
			if p := b.Get(authorizeURL(g, "native", "redirect_uri", sent)); !isLogin(p) {
				t.Errorf("%d %s", p.Status, p.Body)
			}
		})
	}
	for _, sent := range []string{
		"http://[::1]:50321/cb", "http://127.0.0.1:50321/cb?x=1", "http://127.0.0.1.evil.com/cb", "http://127.0.0.1.evil.com:80/cb",
		"http://localhost:50321/cb", "http://127.0.0.1:50321/CB", "http://127.0.0.1:50321/cb/", "http://127.0.0.1:50321/cb#f", "https://127.0.0.1:50321/cb",
		"http://127.0.0.1:50321@evil.com/cb", "http://127.0.0.1:/cb", "http://127.0.0.1:x/cb", "http://127.0.0.1:999999/cb", "http://127.0.0.2:50321/cb",
		"http://127.1:50321/cb", "http://2130706433/cb", "http://0x7f.0.0.1/cb", "http://127.0.0.1\\@evil.com/cb", "HTTP://127.0.0.1/cb", "http://127.0.0.1",
		"com.example.app://cb", "com.example.app:/cb2", "COM.EXAMPLE.APP:/cb",
	} {
		t.Run("A10 "+sent, func(t *testing.T) {
			wantPage(t, b.Get(authorizeURL(g, "native", "redirect_uri", sent)), http.StatusBadRequest)
		})
	}
	t.Run("A11 a web client's loopback address has one port", func(t *testing.T) {
		if p := b.Get(authorizeURL(g, "web", "redirect_uri", "http://127.0.0.1:8080/cb")); !isLogin(p) {
			t.Errorf("%d %s", p.Status, p.Body)
		}
		for _, sent := range []string{"http://127.0.0.1:8081/cb", "http://127.0.0.1/cb"} {
			wantPage(t, b.Get(authorizeURL(g, "web", "redirect_uri", sent)), http.StatusBadRequest)
		}
	})
}

func TestUnknownClients(t *testing.T) { // A13
	g, _ := start(t)
	b := harness.NewBrowser(t, g.ID)
	missing := b.Get(authorizeURL(g, "web", "client_id", "-"))
	wantPage(t, missing, http.StatusBadRequest)
	for name, id := range map[string]string{
		"A13 unknown": "nobody", "A13 markup": "<script>alert(1)</script>", "A13 8 KiB": strings.Repeat("c", 8<<10), "A13 empty": "",
		"A13 another case": "WEB", "A13 a space": "web ", "A13 a path": "../web",
	} {
		t.Run(name, func(t *testing.T) {
			p := b.Get(authorizeURL(g, id))
			wantPage(t, p, http.StatusBadRequest)
			// Each request has a number of its own, which Caddy makes.
			if requestNumber.ReplaceAllString(p.Body, "") != requestNumber.ReplaceAllString(missing.Body, "") {
				t.Errorf("differs from the page for a missing one: %s", p.Body)
			}
		})
	}
	t.Run("a machine that may use no code", func(t *testing.T) {
		wantPage(t, b.Get(authorizeURL(g, "machine")), http.StatusBadRequest)
	})
}

func TestInvalidRedirectURIsAreRefusedAtLoad(t *testing.T) { // A09, O01
	g, _ := start(t)
	for _, uri := range []string{
		"javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "//evil.com", `/\evil.com`, "https:evil.com", "/cb",
		"http://client.example/cb", "https://*.client.example/cb", "https://client.example/*", "https://client.example/cb#f", "https://user@client.example/cb",
		"https://client.example/\tcb", "https://client.example/c b", "https://client.example/../cb", "https://client.example/..%2fcb", "com.example.app:/cb", "https://",
	} {
		t.Run("A09 "+uri, func(t *testing.T) {
			err := g.TryLoad(strings.Replace(site, "redirect_uri https://spa.example/cb", "redirect_uri `"+uri+"`", 1))
			if err == nil {
				t.Fatal("it was loaded")
			}
			if !strings.Contains(err.Error(), "redirect_uri") {
				t.Errorf("the error does not name the field: %v", err)
			}
		})
	}
	if p := harness.NewBrowser(t, g.ID).Get(authorizeURL(g, "spa")); !isLogin(p) {
		t.Errorf("the old configuration no longer serves: %d", p.Status)
	}
}

// S22: programs that register localhost listen at a port of the moment too.
func TestLocalhostPortIsFreeForNativeClients(t *testing.T) {
	g, _ := startSite(t, trustingSite, "$GLOBAL", `client tool {
			public
			native
			redirect_uri http://localhost/cb
			scopes read
		}
		client page {
			public
			redirect_uri http://localhost:3000/cb
			scopes read
		}`)
	c := newCoder(t, g)
	const here = "http://localhost:53682/cb"
	tool := harness.Credentials{ID: "tool"}
	wantTokens(t, g.Token(t, tool, exchange(c.code("tool", "redirect_uri", here), here)))
	// The port is part of the address that the code is bound to.
	wantOAuth(t, g.Token(t, tool, exchange(c.code("tool", "redirect_uri", here), "http://localhost:53683/cb")), http.StatusBadRequest, "invalid_grant")
	for client, addresses := range map[string][]string{
		"tool": {
			"http://127.0.0.1:53682/cb", "http://[::1]:53682/cb", "http://localhost.evil.example:53682/cb", "http://localhost:53682/other",
			"http://localhost:53682@evil.example/cb", "http://localhost@evil.example/cb", "https://localhost:53682/cb", "http://LOCALHOST:53682/cb",
			"http://localhost.:53682/cb", "http://localhost:53682/cb?x=1",
		},
		"page": {"http://localhost:3001/cb", "http://localhost/cb"}, // no native client
	} {
		for _, address := range addresses {
			wantPage(t, c.b.Get(authorizeURL(g, client, "redirect_uri", address)), http.StatusBadRequest)
		}
	}
	// Any program of this device could ask in the tool's name and listen there, so nothing is
	// given without asking the person (RFC 8252 section 8.6).
	wantError(t, g, c.b.Get(authorizeURL(g, "tool", "redirect_uri", here, "prompt", "none")), here, "consent_required")
	if p := c.b.Get(authorizeURL(g, "tool", "redirect_uri", here)); p.Header.Get("Location") != "" || len(harness.Buttons(t, p, "decision")) == 0 {
		t.Errorf("S22 a code without asking: %d %v", p.Status, p.Header)
	}
}
