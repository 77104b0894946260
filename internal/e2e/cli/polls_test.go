package cli

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const portal = `client portal {
			secret portal-secret-0123456789-0123456789-01234567
			variant_b
			redirect_uri https://portal.example/wx
			scopes snsapi_login
		}`

var pollOf = regexp.MustCompile(`data-poll="(/connect/l/qrconnect\?uuid=[\w-]{22})"`)

// screen opens the page with the code to scan, and returns the address of its poll.
func screen(t *testing.T, g *harness.Gateway) (*harness.Browser, string) {
	t.Helper()
	b := harness.NewBrowser(t, g.ID)
	p := b.Get(g.ID + "/connect/qrconnect?appid=portal&redirect_uri=https%3A%2F%2Fportal.example%2Fwx&response_type=code&scope=snsapi_login&state=s")
	m := pollOf.FindStringSubmatch(p.Body)
	if m == nil {
		t.Fatalf("no code to scan: %d %.500s", p.Status, p.Body)
	}
	return b, g.ID + m[1] + "&f=json&last=408"
}

type polled struct {
	harness.Page
	after time.Duration
}

// hang polls, and returns when the gateway says that somebody does.
func hang(t *testing.T, g *harness.Gateway, b *harness.Browser, address string) <-chan polled {
	t.Helper()
	got := make(chan polled, 1)
	go func() {
		begun := time.Now()
		res, err := b.Client.Get(address)
		if err != nil {
			t.Error(err)
			got <- polled{after: time.Since(begun)}
			return
		}
		defer func() { _ = res.Body.Close() }()
		body := make([]byte, 200)
		n, _ := res.Body.Read(body)
		got <- polled{harness.Page{Status: res.StatusCode, Body: string(body[:n])}, time.Since(begun)}
	}()
	for deadline := time.Now().Add(10 * time.Second); g.Metric(t, "caddy_gatehouse_polls_waiting") != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the poll does not hang")
		}
	}
	return got
}

// B30
func TestReloadEndsPollsButNotTickets(t *testing.T) {
	config := strings.NewReplacer("$GLOBAL", portal, "$GUARD", "").Replace(site)
	g := harness.Start(t, config)
	b, poll := screen(t, g)
	got := hang(t, g, b, poll)
	begun := time.Now()
	g.Load(t, strings.Replace(config, `scope read "Read"`, `scope read "Read more"`, 1))
	p := <-got
	if took := time.Since(begun); took > 3*time.Second || p.Status != http.StatusOK || !strings.Contains(p.Body, `"wx_errcode":408`) {
		t.Errorf("after a reload that took %v: %d %s", took, p.Status, p.Body)
	}
	// It is asked again, and hangs under the new configuration.
	got = hang(t, g, b, poll)
	select {
	case p := <-got:
		t.Errorf("the ticket is gone with its configuration: %d %s", p.Status, p.Body)
	case <-time.After(100 * time.Millisecond):
	}
	g.Load(t, config)
	<-got
}

// Apps are stopped in no fixed order: the one that serves may come first and wait for its
// requests.
func TestPollDoesNotDelayShutdown(t *testing.T) {
	config := strings.NewReplacer("$GLOBAL", portal, "$GUARD", "").Replace(site)
	for range 3 {
		g := harness.Prepare(t)
		p := g.Run(t, config)
		b, poll := screen(t, g)
		got := hang(t, g, b, poll)
		begun := time.Now()
		p.Stop()
		if took := time.Since(begun); took > 3*time.Second {
			t.Errorf("the end took %v", took)
		}
		if p := <-got; p.Status != http.StatusOK || !strings.Contains(p.Body, `"wx_errcode":408`) {
			t.Errorf("%d %s", p.Status, p.Body)
		}
	}
}

// N14: what comes without TLS is refused, and a program can read the refusal.
func TestPlaintextRequestsAreRefused(t *testing.T) {
	config := strings.NewReplacer("$GLOBAL", portal+"\n\t\tregistration {\n\t\t\tinitial_token {env.GATEHOUSE_TEST_INITIAL}\n\t\t\tscopes read\n\t\t}", "$GUARD", "", "issuer http://$ID", "issuer https://id.example").Replace(site)
	t.Setenv("GATEHOUSE_TEST_INITIAL", strings.Repeat("i", 32))
	g := harness.Start(t, strings.Replace(config, "http://$ID {", "http://$ID, http://id.example {", 1))
	const page, protocol, dialect, poll = "text/html; charset=utf-8", "application/json; charset=utf-8", "application/json", "text/javascript; charset=utf-8"
	for _, c := range []struct{ method, path, kind string }{
		{"GET", "/authorize?client_id=web", page},
		{"GET", "/login", page},
		{"GET", "/logout", page},
		{"GET", "/account", page},
		{"POST", "/consent", page},
		{"GET", "/device", page},
		{"GET", "/connect/qrconnect?appid=portal", page},
		{"GET", "/connect/qrcode/AAAAAAAAAAAAAAAAAAAAAA", page},
		{"GET", "/connect/confirm?uuid=AAAAAAAAAAAAAAAAAAAAAA", page},
		{"GET", "/connect/oauth2/authorize?appid=portal", page},
		{"GET", "/nowhere", page},
		{"POST", "/token", protocol},
		{"GET", "/token", protocol},
		{"POST", "/revoke", protocol},
		{"POST", "/introspect", protocol},
		{"POST", "/par", protocol},
		{"POST", "/device_authorization", protocol},
		{"POST", "/register", protocol},
		{"PUT", "/register/abc", protocol},
		{"GET", "/userinfo", protocol},
		{"GET", "/.well-known/jwks.json", protocol},
		{"GET", "/.well-known/openid-configuration", protocol},
		{"GET", "/connect/l/qrconnect?uuid=AAAAAAAAAAAAAAAAAAAAAA", poll},
		{"GET", "/connect/l/qrconnect?uuid=AAAAAAAAAAAAAAAAAAAAAA&f=json", protocol},
		{"GET", "/sns/oauth2/access_token?appid=portal", dialect},
		{"POST", "/sns/oauth2/refresh_token", dialect},
		{"GET", "/sns/auth", dialect},
		{"GET", "/sns/userinfo", dialect},
	} {
		r, err := http.NewRequest(c.method, g.ID+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != http.StatusBadRequest || res.Header.Get("Set-Cookie") != "" || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d %v", c.method, c.path, res.StatusCode, res.Header)
		}
		want := map[string]string{
			page: "<html", poll: "window.wx_errcode=500;window.wx_code='';",
			protocol: `{"error":"invalid_request","error_description":"this address must be requested over https","field":null}`,
			dialect:  `{"error":{"code":"invalid_request","message":"this address must be requested over https","field":null},"errcode":43003,"errmsg":"require https"}`,
		}[c.kind]
		if strings.Contains(c.path, "f=json") {
			want = `{"wx_errcode":500,"wx_code":""}`
		}
		if kind := res.Header.Get("Content-Type"); kind != c.kind || !strings.Contains(string(body), want) {
			t.Errorf("%s %s: %s %s", c.method, c.path, kind, body)
		}
	}
}
