package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const (
	password = harness.Password
	callback = "https://client.example/cb"
)

var machine = harness.Credentials{ID: "machine", Secret: "machine-secret-0123456789-0123456789-012345"}

// site keeps users in the store; $GLOBAL and $GUARD stand for more words.
const site = `{
	admin $ADMIN
	gatehouse {
		issuer http://$ID
		store bolt $DIR/state.db
		users store
		tokens {
			audience https://api.example
		}
		scope read "Read"
		scope write "Write"
		$GLOBAL
		client web {
			secret web-secret-0123456789-0123456789-0123456789
			redirect_uri https://client.example/cb
			scopes read write
			default_scopes read
		}
		client machine {
			secret machine-secret-0123456789-0123456789-012345
			grants client_credentials
			scopes read
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
		$GUARD
	}
	reverse_proxy $UPSTREAM
}
`

var web = harness.Credentials{ID: "web", Secret: "web-secret-0123456789-0123456789-0123456789"}

// start loads the site into this process.
func start(t *testing.T, more ...string) *harness.Gateway {
	t.Helper()
	return startSite(t, site, more...)
}

func startSite(t *testing.T, site string, more ...string) *harness.Gateway {
	t.Helper()
	harness.Program(t) // not while something is timed
	up := harness.NewUpstream(t)
	g := harness.Prepare(t, append(more, "$UPSTREAM", up.Addr, "$GLOBAL", "", "$GUARD", "")...)
	g.Start(t, site)
	return g
}

// result is how a command ended.
type result struct {
	code     int
	out, err string
}

// command runs `caddy gatehouse` with these words and this standard input against the
// gateway's admin endpoint.
func command(t *testing.T, g *harness.Gateway, in string, words ...string) result {
	t.Helper()
	return program(t, in, append([]string{"gatehouse"}, at(g, words)...)...)
}

// at puts the flag in front of a --, behind which nothing is a flag.
func at(g *harness.Gateway, words []string) []string {
	address := []string{"--address", strings.TrimPrefix(g.Admin, "http://")}
	for i, w := range words {
		if w == "--" {
			return append(append(append([]string{}, words[:i]...), address...), words[i:]...)
		}
	}
	return append(append([]string{}, words...), address...)
}

func program(t *testing.T, in string, words ...string) result {
	t.Helper()
	cmd := exec.Command(harness.Program(t), words...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &errs
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// done runs a command that must succeed and returns what it prints.
func done(t *testing.T, g *harness.Gateway, in string, words ...string) string {
	t.Helper()
	r := command(t, g, in, words...)
	if r.code != 0 {
		t.Fatalf("%v: exit %d: %s%s", words, r.code, r.out, r.err)
	}
	return r.out
}

// asJSON runs a command that must succeed with --format json and reads what it prints.
func asJSON[T any](t *testing.T, g *harness.Gateway, in string, words ...string) T {
	t.Helper()
	out := done(t, g, in, append([]string{words[0], words[1], "--format", "json"}, words[2:]...)...)
	var v T
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v: %v: %s", words, err, out)
	}
	return v
}

type object = map[string]any

// call requests a path of the admin API.
func call(t *testing.T, g *harness.Gateway, method, path, body string, headers ...string) harness.Page {
	t.Helper()
	r, err := http.NewRequest(method, g.Admin+"/gatehouse/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return harness.Do(t, http.DefaultClient, r)
}

// adminError reads the envelope of an error.
func adminError(t *testing.T, p harness.Page) (code, message, field string) {
	t.Helper()
	e, _ := p.JSON(t)["error"].(object)
	code, _ = e["code"].(string)
	message, _ = e["message"].(string)
	field, _ = e["field"].(string)
	return code, message, field
}

// clientToken asks for an access token of a client for itself.
func clientToken(t *testing.T, g *harness.Gateway, c harness.Credentials) (status int, token string) {
	t.Helper()
	p := g.Token(t, c, url.Values{"grant_type": {"client_credentials"}, "scope": {"read"}})
	token, _ = p.JSON(t)["access_token"].(string)
	return p.Status, token
}

// granted signs a user in at the client web and returns the tokens.
func granted(t *testing.T, g *harness.Gateway, b *harness.Browser, username string) (access, refresh string) {
	t.Helper()
	q := url.Values{
		"client_id": {"web"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"read"}, "state": {"S"},
		"code_challenge": {harness.Challenge(harness.Verifier)}, "code_challenge_method": {"S256"},
	}
	back := b.Authorize(g.ID+"/authorize?"+q.Encode(), username, password)
	p := g.Token(t, web, url.Values{
		"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "redirect_uri": {callback}, "code_verifier": {harness.Verifier},
	})
	if p.Status != http.StatusOK {
		t.Fatalf("exchange: %d %s", p.Status, p.Body)
	}
	access, _ = p.JSON(t)["access_token"].(string)
	refresh, _ = p.JSON(t)["refresh_token"].(string)
	return access, refresh
}
