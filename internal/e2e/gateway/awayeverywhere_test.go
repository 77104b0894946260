package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/gatewaytest"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// T24, V09, I06 at every address: without the store nobody is told that a client, user,
// code, token or registration is bad, since a client library throws away what it is told
// is bad (hydra#1928). Afterwards everything is as it was.
func TestStoreOutageIsNeverARefusal(t *testing.T) {
	t.Setenv("GATEHOUSE_TEST_INITIAL", initialToken)
	g, _, m := startFaulty(t, "$GLOBAL", tillClient(time.Now().AddDate(1, 0, 0).Format(time.DateOnly))+
		"registration {\n\t\t\tinitial_token {env.GATEHOUSE_TEST_INITIAL}\n\t\t\tscopes read\n\t\t}\n"+partyClient("party", ""))
	elsewhere, err := gatewaytest.NewClients(m)
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := elsewhere.Create(t.Context(), gatewaytest.Client{Client: oauth.Client{ID: "stored", Scopes: []string{"read"}}})
	if err != nil {
		t.Fatal(err)
	}
	stored := harness.Credentials{ID: "stored", Secret: secret}
	wantTokens(t, g.Token(t, stored, credentialsForm))
	made := call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{"redirect_uris": []string{callback}, "scope": "read"})
	clientURI, registration := member(t, made, "registration_client_uri"), member(t, made, "registration_access_token")
	if made.Status != http.StatusCreated || clientURI == "" {
		t.Fatalf("%d %s", made.Status, made.Body)
	}
	b := signedIn(t, g)
	bobs, consent := consentPage(t, g, "bob")
	fresh := newAttempts(t, g)
	out := b.Get(g.ID + "/logout")
	account := b.Get(g.ID + "/account")
	openID := newParty(t, g, "party").signIn(harness.NewBrowser(t, g.ID), username, "n", oauth2.AccessTypeOnline).AccessToken
	_, refresh := tokens(t, g, web)
	m.Fail(errors.New("the store is away, password=hunter2"))

	programs := map[string]func() harness.Page{
		"a token for a client of the store": func() harness.Page { return g.Token(t, stored, credentialsForm) },
		"a token for a client that nobody knows": func() harness.Page {
			return g.Token(t, harness.Credentials{ID: "nobody", Secret: web.Secret}, credentialsForm)
		},
		"a password at the token endpoint": func() harness.Page { return at(t, g, "/token", till, passwordForm(username, password)) },
		"a pushed request": func() harness.Page {
			_, query, _ := strings.Cut(authorizeURL(g, "web"), "?")
			form, _ := url.ParseQuery(query)
			form.Del("client_id")
			return at(t, g, "/par", web, form)
		},
		"revocation":    func() harness.Page { return at(t, g, "/revoke", web, tokenForm(refresh)) },
		"introspection": func() harness.Page { return at(t, g, "/introspect", web, tokenForm(refresh)) },
		"registration": func() harness.Page {
			return call(t, http.MethodPost, g.ID+"/register", initialToken, map[string]any{"redirect_uris": []string{callback}})
		},
		"reading a registration":  func() harness.Page { return call(t, http.MethodGet, clientURI, registration, nil) },
		"ending a registration":   func() harness.Page { return call(t, http.MethodDelete, clientURI, registration, nil) },
		"userinfo after the feed": func() harness.Page { return userinfo(t, g, openID) },
	}
	for name, ask := range programs {
		t.Run("T24 "+name, func(t *testing.T) {
			p := ask()
			if strings.HasPrefix(name, "userinfo") && p.Status == http.StatusOK {
				return // the last state serves for a while
			}
			wantAway(t, p)
			if p.JSON(t)["error"] != "temporarily_unavailable" {
				t.Errorf("%s", p.Body)
			}
		})
	}
	action, allow := harness.Form(t, consent)
	allow.Set("decision", "allow")
	pages := map[string]func() harness.Page{
		"the authorization endpoint": func() harness.Page { return b.Get(authorizeURL(g, "web")) },
		"one that may show nothing":  func() harness.Page { return b.Get(authorizeURL(g, "web", "prompt", "none")) },
		"a request that was pushed": func() harness.Page {
			return b.Get(g.ID + "/authorize?client_id=web&request_uri=urn:ietf:params:oauth:request_uri:" + strings.Repeat("A", 43))
		},
		"a client of the store":             func() harness.Page { return b.Get(authorizeURL(g, "stored")) },
		"the right password":                func() harness.Page { return fresh.try(username, password, "") },
		"an answer to the consent page":     func() harness.Page { return bobs.Post(action, allow) },
		"signing out":                       func() harness.Page { return b.Submit(out, nil) },
		"the account":                       func() harness.Page { return b.Get(g.ID + "/account") },
		"ending all there is of a user":     func() harness.Page { return press(b, account, "all", "everything") },
		"signing out at a client's request": func() harness.Page { return b.Get(g.ID + "/logout?client_id=stored") },
	}
	for name, ask := range pages {
		t.Run("T24 "+name, func(t *testing.T) {
			p := ask()
			wantAway(t, p)
			wantPage(t, p, http.StatusServiceUnavailable)
		})
	}
	m.Fail(nil)
	t.Run("T24 afterwards", func(t *testing.T) {
		wantTokens(t, g.Token(t, stored, credentialsForm))
		wantTokens(t, g.Token(t, web, refreshWith(refresh)))
		wantCode(t, g, b.Get(authorizeURL(g, "web", "prompt", "none")), callback)
		if p := call(t, http.MethodGet, clientURI, registration, nil); p.Status != http.StatusOK {
			t.Errorf("the registration: %d %s", p.Status, p.Body)
		}
		if p := fresh.try(username, password, ""); p.Status != http.StatusOK {
			t.Errorf("signing in: %d", p.Status)
		}
	})
}

// T26: whoever need not be asked sends no form. The address itself must lead to the code after a 503, to that one alone
// and in that browser alone.
func TestPushedRequestIsRepeatableAfterAFault(t *testing.T) {
	g, _, m := startFaulty(t)
	b, other := harness.NewBrowser(t, g.ID), harness.NewBrowser(t, g.ID)
	for _, each := range []*harness.Browser{b, other} {
		each.Authorize(authorizeURL(g, "web"), username, password)
	}
	_, query, _ := strings.Cut(authorizeURL(g, "web"), "?")
	form, _ := url.ParseQuery(query)
	form.Del("client_id")
	uri, _ := at(t, g, "/par", web, form).JSON(t)["request_uri"].(string)
	address := g.ID + "/authorize?" + url.Values{"client_id": {"web"}, "request_uri": {uri}}.Encode()
	m.LoseReply(errors.New("the reply is lost"))
	wantAway(t, b.Get(address))
	wantPage(t, other.Get(address), http.StatusBadRequest)
	wantTokens(t, g.Token(t, web, exchange(wantCode(t, g, b.Get(address), callback), callback)))
	wantPage(t, b.Get(address), http.StatusBadRequest)
}

// wantAway is the answer of any kind to a fault of the store.
func wantAway(t *testing.T, p harness.Page) {
	t.Helper()
	if n, err := strconv.Atoi(p.Header.Get("Retry-After")); p.Status != http.StatusServiceUnavailable || err != nil || n < 1 {
		t.Fatalf("%d, Retry-After %q, to %q: %.300s", p.Status, p.Header.Get("Retry-After"), p.Header.Get("Location"), p.Body)
	}
	if strings.Contains(p.Body, "hunter2") || strings.Contains(p.Body, "store is away") || len(p.Header.Values("Set-Cookie")) != 0 || p.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("%v %s", p.Header, p.Body)
	}
}
