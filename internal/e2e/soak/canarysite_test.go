package soak

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// canaryfile logs as much as Caddy can, with plain log directives, in both formats.
const canaryfile = `{
	admin $ADMIN
	default_bind 127.0.0.1
	grace_period 5s
	log default {
		output file $DIR/logs/default.json
		level DEBUG
	}
	log console {
		output file $DIR/logs/console.log
		format console
		level DEBUG
	}
	gatehouse {
		issuer http://$ID
		secret {env.CANARY_MASTER}
		store bolt $DIR/state.db
		users store
		tokens {
			audience https://api.example
			refresh_grace 0
			grants_per_user 10
		}
		protect {
			per_address 1000
			codes_per_user 1000000
		}
		registration {
			initial_token {env.CANARY_INITIAL}
			scopes read
			max 10
		}
		scope read "Read"
		client web {
			secret {env.CANARY_CLIENT}
			redirect_uri https://client.example/cb
			post_logout_redirect_uri https://client.example/bye
			grants authorization_code refresh_token client_credentials
			deprecated_grant password until 2099-01-01
			deprecated_grant implicit until 2099-01-01
			introspect
			scopes openid profile read
			default_scopes read
		}
		client wx {
			variant_b
			secret {env.CANARY_CLIENT}
			redirect_uri https://wx.example/cb
			frame_origins https://wx.example
			scopes snsapi_login snsapi_userinfo read
		}
		client tv {
			public
			grants device_code refresh_token
			scopes read
		}
		client signed {
			jwks $DIR/keys.json
			grants client_credentials
			scopes read
		}
		$MORE
	}
}
http://$ID {
	log
	oauth_server
}
http://$API {
	log
	handle /bare/* {
		oauth_guard {
			scope read * /bare/*
		}
		reverse_proxy 127.0.0.1:1
	}
	@work path /mails /imports /jobs/*
	handle @work {
		oauth_guard {
			scope read * /*
		}
		api_rest {
			to $UPSTREAM
			job mails {
				upstream POST /read
			}
			job imports {
				upstream POST /read
				fetch
			}
		}
	}
	handle {
		api_errors
		oauth_guard {
			public GET /public /public/*
			scope read * /read /read/* /dead/*
		}
		api_limit {
			client 1000 1h
		}
		reverse_proxy /dead/* 127.0.0.1:1
		reverse_proxy $UPSTREAM
	}
}
`

// canaryRun is a gateway whose every secret is a canary.
type canaryRun struct {
	*harness.Gateway
	harness.Canaries
	t      *testing.T
	client http.RoundTripper

	mu     sync.Mutex
	errors []string // bodies of error answers
}

// RoundTrip remembers every secret that an answer brings, whatever it is for.
func (c *canaryRun) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.client.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	for _, cookie := range res.Cookies() {
		if cookie.Value != "" {
			c.Plant(c.t, "a cookie", cookie.Value)
		}
	}
	if to, err := url.Parse(res.Header.Get("Location")); err == nil {
		c.plantAll("a Location", to.Query())
		if fragment, err := url.ParseQuery(to.Fragment); err == nil {
			c.plantAll("a fragment", fragment)
		}
	}
	var answer map[string]any
	if json.Unmarshal(body, &answer) == nil {
		for name, value := range answer {
			if s, ok := value.(string); ok {
				c.plantAll("an answer", url.Values{name: {s}})
			}
		}
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		c.plantForms(string(body))
	}
	if res.StatusCode >= http.StatusBadRequest {
		c.mu.Lock()
		c.errors = append(c.errors, string(body))
		c.mu.Unlock()
	}
	return res, nil
}

// secretNames are the members of answers and redirects that must not be written down.
var secretNames = []string{
	"code", "state", "access_token", "refresh_token", "id_token", "client_secret", "registration_access_token", "request_uri",
	"wx_code", "openid", "unionid", "device_code", "verification_uri_complete",
}

func (c *canaryRun) plantAll(where string, values url.Values) {
	for _, name := range secretNames {
		value := values.Get(name)
		if len(value) < 10 {
			continue
		}
		c.Plant(c.t, name+" of "+where, value)
		if parts := strings.Split(value, "."); len(parts) == 3 { // a token may be cut
			c.Plant(c.t, name+" of "+where, parts[2])
		}
	}
}

func (c *canaryRun) plantForms(page string) {
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		c.t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "input" && n.Data != "button" {
			continue
		}
		attrs := make(map[string]string)
		for _, a := range n.Attr {
			attrs[a.Key] = a.Val
		}
		if len(attrs["value"]) > 20 {
			c.Plant(c.t, inForm+attrs["name"], attrs["value"])
		}
	}
}

// inForm begins the names of what stands in forms: those go into pages, errors included.
const inForm = "a form's "

func newCanaryRun(t *testing.T) *canaryRun {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/cut") {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(up.Close)
	return &canaryRun{
		Gateway: harness.Prepare(t, "$UPSTREAM", strings.TrimPrefix(up.URL, "http://"), "$MORE", ""),
		t:       t, client: &http.Transport{DisableKeepAlives: true}, // each load closes the admin connections
	}
}

func (c *canaryRun) browser() *harness.Browser {
	b := harness.NewBrowser(c.t, c.ID)
	b.Client.Transport = c
	return b
}

// send sends a request without cookies. The pairs are header fields.
func (c *canaryRun) send(method, address, body string, header ...string) harness.Page {
	c.t.Helper()
	return harness.Send(c.t, c.browser().Client, method, address, body, header...)
}

// want is send for a request that must be answered so: a run in which nothing works
// would leave no traces.
func (c *canaryRun) want(status int, method, address, body string, header ...string) harness.Page {
	c.t.Helper()
	p := c.send(method, address, body, header...)
	if p.Status != status {
		c.t.Errorf("%s %s: %d, want %d: %.300s", method, address, p.Status, status, p.Body)
	}
	return p
}

func (c *canaryRun) text(p harness.Page, name string) string {
	c.t.Helper()
	s, _ := p.JSON(c.t)[name].(string)
	if s == "" {
		c.t.Fatalf("no %s in %d %s", name, p.Status, p.Body)
	}
	return s
}

// command runs the program's CLI against the gateway and returns all it says.
func (c *canaryRun) command(in string, args ...string) (string, error) {
	c.t.Helper()
	cmd := exec.Command(harness.Program(c.t), append([]string{"gatehouse"}, args...)...)
	cmd.Args = append(cmd.Args, "--address", strings.TrimPrefix(c.Admin, "http://"))
	cmd.Stdin = strings.NewReader(in)
	cmd.Dir = c.Dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
