package monitoring

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// site has every handler that counts something, and the metrics on a site of their own, as the page
// about monitoring says.
const site = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		output discard
	}
	metrics
	gatehouse {
		issuer http://$ID
		secret {env.GATEHOUSE_TEST_SECRET}
		store redis $REDIS {
			timeout 10s # the machine may be busy
		}
		limiter $LIMITER
		users file $DIR/users.json
		tokens {
			refresh_grace 0s
		}
		scope read "Read"
		client web {
			secret web-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
			grants authorization_code refresh_token client_credentials
			scopes read
			default_scopes read
			trusted
		}
	}
}
http://$SCRAPE {
	metrics
}
http://$ID {
	oauth_server
}
http://$API {
	api_errors
	oauth_guard {
		public GET /public
		scope read * /*
	}
	api_limit {
		client 100000 1h
		by tight {http.request.header.X-Tight} 1 1h
	}
	api_rest {
		to http://$UPSTREAM
		resource articles
		job tasks {
			upstream POST /task
		}
	}
	reverse_proxy $UPSTREAM
}
http://$SHADOW {
	oauth_guard {
		scope read * /*
		shadow
	}
	reverse_proxy $UPSTREAM
}
`

var web = harness.Credentials{ID: "web", Secret: "web-secret-0123456789-0123456789-0123456789"}

const users = `{"users":[{"id":"u-1","username":"alice","password_hash":"` + harness.PasswordHash + `"}]}`

// gateway is a running gateway whose store can be killed.
type gateway struct {
	*harness.Gateway
	redis  *redistest.Server
	scrape string // host:port of its metrics
}

func start(t *testing.T) *gateway {
	t.Helper()
	t.Setenv("GATEHOUSE_TEST_SECRET", "a master secret of the tests, 0123456789")
	redis, up := redistest.Start(t), harness.NewUpstream(t)
	up.Answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := `{"ok":true}`
		if strings.HasPrefix(r.URL.Path, "/articles") {
			answer = `[]`
		}
		_, _ = fmt.Fprint(w, answer)
	})
	ports := harness.FreePorts(t, 2)
	scrape := fmt.Sprintf("localhost:%d", ports[0])
	g := harness.Prepare(t, "$REDIS", redis.URL(), "$UPSTREAM", up.Addr, "$SCRAPE", scrape, "$SHADOW", fmt.Sprintf("localhost:%d", ports[1]))
	g.WriteFile(t, "users.json", users)
	g.Start(t, limitedBy("memory"))
	return &gateway{g, redis, scrape}
}

func limitedBy(limiter string) string { return strings.Replace(site, "$LIMITER", limiter, 1) }

// signIn signs alice in and returns her refresh token.
func (g *gateway) signIn(t *testing.T) string {
	t.Helper()
	const callback = "https://client.example/cb"
	q := url.Values{
		"client_id": {web.ID}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}
	back := harness.NewBrowser(t, g.ID).Authorize(g.ID+"/authorize?"+q.Encode(), "alice", harness.Password)
	p := g.Token(t, web, url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {callback}, "code_verifier": {harness.Verifier},
	})
	token, _ := p.JSON(t)["refresh_token"].(string)
	if p.Status != http.StatusOK || token == "" {
		t.Fatalf("signing in: %d %s", p.Status, p.Body)
	}
	return token
}

// token gets another access token.
func (g *gateway) token(t *testing.T) string {
	t.Helper()
	p := g.Token(t, web, url.Values{"grant_type": {"client_credentials"}})
	token, _ := p.JSON(t)["access_token"].(string)
	if p.Status != http.StatusOK || token == "" {
		t.Fatalf("a token: %d %s", p.Status, p.Body)
	}
	return token
}

// refresh returns the status of a refresh.
func (g *gateway) refresh(t *testing.T, token string) int {
	t.Helper()
	return g.Token(t, web, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}).Status
}

// signInFails opens the login page. The function that it returns signs in, expects a 503, and that both metrics count it.
func (g *gateway) signInFails(t *testing.T) func() {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	login := b.Get(g.ID + "/login")
	counts := []string{`caddy_gatehouse_sign_in_attempts_total{outcome="error"}`, `caddy_gatehouse_error_responses_total{class="5xx"}`}
	return func() {
		t.Helper()
		before := []float64{g.Metric(t, counts[0]), g.Metric(t, counts[1])}
		if p := b.Submit(login, url.Values{"username": {"alice"}, "password": {harness.Password}}); p.Status != http.StatusServiceUnavailable {
			t.Errorf("signing in: %d", p.Status)
		}
		for i, series := range counts {
			if got := g.Metric(t, series); got != before[i]+1 {
				t.Errorf("%s was %v, and is %v", series, before[i], got)
			}
		}
	}
}
