package cli

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// mistakes are made on purpose. Each returns what the person who made it sees, by what the page quotes of that.
var mistakes = map[string]func(t *testing.T) string{
	"unrecognized word '…' in gatehouse (did you mean …?)":        loading("tokens {", "tokenz {"),
	"expected https; http is for loopback addresses only":         loading("issuer http://$ID", "issuer http://id.example.com"),
	"expected no slash at the end":                                loading("issuer http://$ID", "issuer http://$ID/"),
	"must be https; http is for loopback addresses only":          loading("redirect_uri https://", "redirect_uri http://"),
	"has … characters, expected at least 32, or a placeholder":    loading(web.Secret, "short"),
	"the environment variable … is not set, or is empty":          loading(web.Secret, "{env.NOBODY_SETS_THIS}"),
	"scope … is not declared, expected one of:":                   loading("scopes read write", "scopes read wirte"),
	"users.json: no such file or directory":                       loading("users store", "users file $DIR/users.json"),
	"opening the store: store bolt: mkdir …":                      loading("$DIR/state.db", "/proc/gatehouse/state.db"),
	"a literal would be readable in Caddy's stored configuration": loading("bolt $DIR/state.db", "redis redis://:wrong@127.0.0.1/0"),
	"this store keeps no secret of its own":                       loading("bolt $DIR/state.db", "redis redis://127.0.0.1/0"),
	"users.json:…: expected": func(t *testing.T) string {
		g := prepare(t)
		g.WriteFile(t, "users.json", `[{"username": "alice",}]`)
		return loadError(t, g, strings.Replace(site, "users store", "users file $DIR/users.json", 1))
	},
	"bind: address already in use": func(t *testing.T) string {
		g := prepare(t)
		l, err := net.Listen("tcp", strings.TrimPrefix(g.API, "http://"))
		harness.FailOn(t, err)
		defer l.Close()
		return loadError(t, g, site)
	},
	"state.db is in use by another process": func(t *testing.T) string {
		other := prepare(t)
		other.Run(t, site)
		return loadError(t, prepare(t), strings.Replace(site, "$DIR", other.Dir, 1))
	},
	"has changed since the configuration was loaded": func(t *testing.T) string {
		g := prepare(t)
		g.WriteFile(t, "web.secret", web.Secret)
		g.Start(t, changed(t, web.Secret, "{file.$DIR/web.secret}"))
		g.WriteFile(t, "web.secret", strings.Repeat("another-", 4))
		return command(t, g, "", "doctor").out
	},
	"this node cannot sign tokens": func(t *testing.T) string {
		t.Setenv("SECRET_OLD", "a-secret-0123456789-0123456789-0123456789")
		t.Setenv("SECRET_NEW", "another-secret-0123456789-0123456789-01234")
		g := prepare(t)
		g.Start(t, changed(t, "store bolt", "secret {env.SECRET_OLD}\n\t\tstore bolt"))
		_, _ = clientToken(t, g, machine)
		g.Load(t, changed(t, "store bolt", "secret {env.SECRET_NEW}\n\t\tstore bolt"))
		return command(t, g, "", "doctor").out
	},
	"WRONGPASS": func(t *testing.T) string {
		s := redistest.Start(t, "--requirepass", "right")
		t.Setenv("REDIS_PASSWORD", "wrong")
		return loadError(t, prepare(t), onRedis("redis://:{env.REDIS_PASSWORD}@"+s.Addr+"/0"))
	},
	"connect: connection refused": func(t *testing.T) string {
		return loadError(t, prepare(t), onRedis(fmt.Sprintf("redis://127.0.0.1:%d/0", harness.FreePorts(t, 1)[0])))
	},

	"This return address is not registered": func(t *testing.T) string { return authorize(t, "web", callback+"/") },
	"Unknown application":                   func(t *testing.T) string { return authorize(t, "wob", callback) },
	"This request was refused": func(t *testing.T) string {
		g := start(t)
		b := harness.NewBrowser(t, g.ID)
		action, values := harness.Form(t, b.Get(authorization(g, "web", callback)))
		values.Set("username", "alice")
		values.Set("password", password)
		return harness.NewBrowser(t, g.ID).Post(action, values).Body // which has no cookie
	},
	"is not the metadata of": func(t *testing.T) string { return elsewhere(t, "https://other.example", nil) },
	"This connection is not secure": func(t *testing.T) string {
		g := startSite(t, strings.Replace(site, "issuer http://$ID", "issuer https://id.example.com", 1))
		out := command(t, g, "", "doctor").out
		if !strings.Contains(out, "servers { trusted_proxies static ... }") {
			t.Error(out)
		}
		return harness.Send(t, http.DefaultClient, "GET", g.ID+"/login", "", "Accept", "text/html").Body
	},

	"the client is unknown or its authentication failed": func(t *testing.T) string {
		return start(t).Token(t, harness.Credentials{ID: machine.ID, Secret: "wrong"}, url.Values{"grant_type": {"client_credentials"}}).Body
	},
	"the client may not use this grant type": func(t *testing.T) string {
		return start(t).Token(t, web, url.Values{"grant_type": {"client_credentials"}}).Body
	},
	"scope … is unknown or not allowed for this client": func(t *testing.T) string {
		return start(t).Token(t, machine, url.Values{"grant_type": {"client_credentials"}, "scope": {"write"}}).Body
	},
	"scope is missing and this client has no default scopes": func(t *testing.T) string {
		return start(t).Token(t, machine, url.Values{"grant_type": {"client_credentials"}}).Body
	},
	"code is unknown, expired, revoked or another client's": func(t *testing.T) string {
		return start(t).Token(t, web, url.Values{"grant_type": {"authorization_code"}, "code": {"old"}, "redirect_uri": {callback}}).Body
	},
	"code_verifier does not match": func(t *testing.T) string { return redeemedWith(t, strings.Repeat("other", 10)) },
	"code_verifier is malformed":   func(t *testing.T) string { return redeemedWith(t, strings.Repeat("a/b=", 11)) },

	"an access token is needed": func(t *testing.T) string { return start(t).Call(t, "GET", "/read", "").Body },
	"the access token is invalid, expired or revoked": func(t *testing.T) string {
		return start(t).Call(t, "GET", "/read", "x").Body
	},
	"wrong_audience: its audience does not contain the one of the guard": func(t *testing.T) string {
		g := start(t, "$GUARD", "audience https://other.example")
		_, token := clientToken(t, g, machine)
		return done(t, g, token, "token", "inspect")
	},
	"unknown_key: its key is not in the key ring": func(t *testing.T) string {
		_, token := clientToken(t, start(t), machine)
		return done(t, start(t), token, "token", "inspect")
	},
	"the clock of the issuer and the one here differ by": func(t *testing.T) string {
		return elsewhere(t, "%s", http.Header{"Date": {"Mon, 02 Jan 2006 15:04:05 GMT"}})
	},
	"the access token lacks the scope that is needed": func(t *testing.T) string {
		g := start(t)
		_, token := clientToken(t, g, machine)
		return g.Call(t, "POST", "/read", token).Body
	},
	"no rule permits this method and path": func(t *testing.T) string {
		g := start(t)
		_, token := clientToken(t, g, machine)
		return g.Call(t, "GET", "/other", token).Body
	},
	"the API refused a request with the session that it gave to the gateway": func(t *testing.T) string {
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // accepts a session only with its own Host
			if w.Header().Set("Set-Cookie", "sid=1"); r.URL.Path != "/login" {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}))
		t.Cleanup(api.Close)
		g := prepare(t)
		logged := strings.Replace(site, "admin $ADMIN", "admin $ADMIN\n\tlog default {\n\t\toutput file $DIR/gateway.log\n\t}", 1)
		g.Start(t, strings.Replace(logged, "reverse_proxy $UPSTREAM", "api_rest {\n\t\tto "+strings.TrimPrefix(api.URL, "http://")+
			"\n\t\tlogin {\n\t\t\tPOST /login\n\t\t\tkeep cookie\n\t\t}\n\t\tresource public\n\t}", 1))
		if a := g.Call(t, "GET", "/public/1", ""); a.Status != http.StatusBadGateway {
			t.Error(a.Status, a.Body)
		}
		log, err := os.ReadFile(filepath.Join(g.Dir, "gateway.log"))
		harness.FailOn(t, err)
		return string(log)
	},
	"the service behind the gateway cannot be reached": func(t *testing.T) string {
		g := prepare(t)
		g.Start(t, site)
		return g.Call(t, "GET", "/public", "").Body
	},
}

// redeemedWith is what the token endpoint answers to a code with another code_verifier.
func redeemedWith(t *testing.T, verifier string) string {
	t.Helper()
	g := start(t)
	addUser(t, g)
	code := harness.NewBrowser(t, g.ID).Authorize(authorization(g, "web", callback), "alice", password).Query().Get("code")
	return g.Token(t, web, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier}}).Body
}

// elsewhere is what doctor says of an issuer whose address leads to another server, with the metadata of an issuer.
func elsewhere(t *testing.T, issuer string, header http.Header) string {
	t.Helper()
	var address string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		_, _ = fmt.Fprintf(w, `{"issuer":%q}`, strings.Replace(issuer, "%s", address, 1))
	}))
	t.Cleanup(other.Close)
	address = other.URL
	return command(t, startSite(t, strings.Replace(site, "issuer http://$ID", "issuer "+address, 1)), "", "doctor").out
}

func TestTroubleshootingPageQuotesActualMessages(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "troubleshooting.md"))
	harness.FailOn(t, err)
	quoted := make(map[string]bool)
	for line := range strings.Lines(string(page)) {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` |"); ok && strings.HasPrefix(line, "| `") {
			quoted[cell] = true
		}
	}
	for quote := range quoted {
		if mistakes[quote] == nil {
			t.Errorf("nobody makes the mistake that is answered %q", quote)
		}
	}
	for quote, make := range mistakes {
		if !quoted[quote] {
			t.Errorf("deploy/troubleshooting.md does not have %q", quote)
		}
		t.Run(quote, func(t *testing.T) {
			seen := make(t)
			rest := seen
			for part := range strings.SplitSeq(quote, "…") {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("seen is %s", seen)
				}
				rest = after
			}
		})
	}
}

// prepare returns a gateway whose API cannot be reached.
func prepare(t *testing.T) *harness.Gateway {
	t.Helper()
	harness.Program(t) // not while something is timed
	return harness.Prepare(t, "$UPSTREAM", fmt.Sprintf("127.0.0.1:%d", harness.FreePorts(t, 1)[0]), "$GLOBAL", "", "$GUARD", "")
}

// onRedis is the site with its store in Redis.
func onRedis(address string) string {
	return strings.Replace(site, "store bolt $DIR/state.db", "secret {env.GATEHOUSE_SECRET}\n\t\tstore redis "+address, 1)
}

// loading returns the error of the site with one part replaced.
func loading(part, by string) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		text := strings.Replace(site, part, by, 1)
		if text == site {
			t.Fatal("the site has no", part)
		}
		return loadError(t, prepare(t), text)
	}
}

func loadError(t *testing.T, g *harness.Gateway, text string) string {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", g.Dir)
	t.Setenv("GATEHOUSE_SECRET", "a-secret-0123456789-0123456789-0123456789")
	err := g.TryLoad(text)
	if err == nil {
		t.Fatal("the mistake is loaded")
	}
	return err.Error()
}

func authorization(g *harness.Gateway, client, redirect string) string {
	return g.ID + "/authorize?" + url.Values{
		"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect}, "state": {"state"},
		"code_challenge": {harness.Challenge(strings.Repeat("verifier", 6))}, "code_challenge_method": {"S256"},
	}.Encode()
}

// authorize returns the page that answers an authorization request.
func authorize(t *testing.T, client, redirect string) string {
	t.Helper()
	g := start(t)
	return harness.NewBrowser(t, g.ID).Get(authorization(g, client, redirect)).Body
}
