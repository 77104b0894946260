package gateway

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// The clients and the user of the site.
var (
	web     = harness.Credentials{ID: "web", Secret: "web-secret-0123456789-0123456789-0123456789"}
	other   = harness.Credentials{ID: "other", Secret: "other-secret-0123456789-0123456789-01234567"}
	machine = harness.Credentials{ID: "machine", Secret: "machine-secret-0123456789-0123456789-012345"}
	spa     = harness.Credentials{ID: "spa"}
)

const (
	username, password = "alice", harness.Password
	callback           = "https://client.example/cb"
)

// users has alice, bob and the locked mallory, with one password. The hashes are cheap
// ones: these tests sign in very often.
const users = `{"users":[
{"id":"u-1","username":"alice","name":"Alice","password_hash":"` + harness.PasswordHash + `"},
{"id":"u-2","username":"bob","name":"Bob","password_hash":"` + harness.PasswordHash + `"},
{"id":"u-3","username":"mallory","name":"Mallory","locked":true,"password_hash":"` + harness.PasswordHash + `"}
]}`

func init() { harness.SuiteProxy = harness.OwnProxy }

const site = "{\n" + harness.Quiet + `
	gatehouse {
		issuer http://$ID
		name "Test ID"
		store bolt $DIR/state.db
		users file $DIR/users.json
		tokens {
			audience https://api.example
			$TOKENS
		}
		scope read "Read"
		scope write "Write"
		scope admin "Administer"
		$GLOBAL
		client web {
			name "Web Client"
			secret web-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
			redirect_uri https://client.example/q?dummy1=lorem&dummy2=ipsum
			grants authorization_code refresh_token client_credentials
			scopes read write
			default_scopes read
		}
		client other {
			secret other-secret-0123456789-0123456789-01234567
			redirect_uri https://client.example/cb
			redirect_uri https://other.example/cb
			scopes read write admin
		}
		client machine {
			secret machine-secret-0123456789-0123456789-012345
			grants client_credentials
			scopes read
		}
		client spa {
			public
			redirect_uri https://spa.example/cb
			scopes read write
			default_scopes read
		}
		client native {
			public
			native
			redirect_uri http://127.0.0.1/cb
			redirect_uri com.example.app:/cb
			scopes read
			default_scopes read
		}
	}
}
http://$ID {
	oauth_server
}
http://$API {
	api_errors
	oauth_guard {
		public GET /public /public/*
		scope read GET,HEAD /read /read/*
		scope write POST,PUT,DELETE /read /read/*
		scope admin * /admin /admin/*
		$GUARD
	}
	api_limit {
		client 100000 1h
		$LIMIT
	}
	reverse_proxy $UPSTREAM
}
`

// start loads the site. The pairs replace $TOKENS, $GLOBAL, $GUARD and $LIMIT.
func start(t *testing.T, more ...string) (*harness.Gateway, *harness.Upstream) {
	t.Helper()
	return startSite(t, site, more...)
}

// startSite is start for a site that was changed.
func startSite(t *testing.T, site string, more ...string) (*harness.Gateway, *harness.Upstream) {
	t.Helper()
	g, up := prepare(t, more...)
	g.Start(t, site)
	return g, up
}

// startApart is startSite in a process of its own: what a test that mostly waits began there
// goes on beside other tests, from the moment at which the test says that it is parallel.
func startApart(t *testing.T, site string, more ...string) *harness.Gateway {
	t.Helper()
	g, _ := prepare(t, more...)
	g.Run(t, site)
	return g
}

func prepare(t *testing.T, more ...string) (*harness.Gateway, *harness.Upstream) {
	t.Helper()
	up := harness.NewUpstream(t)
	more = append(more, "$UPSTREAM", up.Addr, "$TOKENS", "", "$GLOBAL", "", "$GUARD", "", "$LIMIT", "")
	g := harness.Prepare(t, more...)
	g.WriteFile(t, "users.json", users)
	return g, up
}

// authorizeURL is a valid request of a client, with parameters added or, when their
// value is "-", removed.
func authorizeURL(g *harness.Gateway, client string, changes ...string) string {
	redirect := map[string]string{"spa": "https://spa.example/cb", "native": "http://127.0.0.1/cb", "other": "https://other.example/cb"}[client]
	if redirect == "" {
		redirect = callback
	}
	q := url.Values{
		"client_id": {client}, "redirect_uri": {redirect}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if changes[i+1] == "-" {
			q.Del(changes[i])
		} else {
			q.Set(changes[i], changes[i+1])
		}
	}
	return g.ID + "/authorize?" + q.Encode()
}

// code signs alice in at a client and returns a code.
func code(t *testing.T, g *harness.Gateway, client string, changes ...string) string {
	t.Helper()
	back := harness.NewBrowser(t, g.ID).Authorize(authorizeURL(g, client, changes...), username, password)
	c := back.Query().Get("code")
	if c == "" {
		t.Fatalf("no code in %s", back)
	}
	return c
}

// exchange is the token request for a code.
func exchange(code, redirectURI string) url.Values {
	return url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirectURI}, "code_verifier": {harness.Verifier},
	}
}

// tokens signs alice in and returns her access and refresh token.
func tokens(t *testing.T, g *harness.Gateway, c harness.Credentials, changes ...string) (access, refresh string) {
	t.Helper()
	redirect := callback
	if c.ID == "spa" {
		redirect = "https://spa.example/cb"
	}
	if c.ID == "other" {
		redirect = "https://other.example/cb"
	}
	p := g.Token(t, c, exchange(code(t, g, c.ID, changes...), redirect))
	if p.Status != http.StatusOK {
		t.Fatalf("exchange: %d %s", p.Status, p.Body)
	}
	m := p.JSON(t)
	access, _ = m["access_token"].(string)
	refresh, _ = m["refresh_token"].(string)
	return access, refresh
}
