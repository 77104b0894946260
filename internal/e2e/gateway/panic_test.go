package gateway

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
	"github.com/gatehouse/gatehouse/module/directory"
)

// panicky is a directory that knows alice and panics with the password of everybody else.
type panicky struct{}

func init() { caddy.RegisterModule(panicky{}) }

func (panicky) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "gatehouse.directories.panicky", New: func() caddy.Module { return new(panicky) }}
}

func (panicky) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { d.Next(); return nil }

func (panicky) Identity() any { return panicky{} }

func (panicky) Open(context.Context) (directory.Directory, error) { return panicky{}, nil }

func (panicky) Identify(context.Context, string) (string, bool, error) { return "", false, nil }

func (panicky) Authenticate(_ context.Context, name, password string) (directory.User, bool, error) {
	if name != username {
		panic("the password was " + password)
	}
	return directory.User{ID: "u-1", Username: username}, true, nil
}

func (panicky) Lookup(context.Context, string) (directory.User, bool, error) {
	return directory.User{ID: "u-1", Username: username}, true, nil
}

// TestE18FailuresLogNoSecret is the part of the run with planted secrets for
// which the parts of a gateway must break: the store, and the code itself.
func TestE18FailuresLogNoSecret(t *testing.T) {
	text := strings.NewReplacer(
		"output discard", "output file $DIR/default.log\n\t\tlevel DEBUG",
		"http://$ID {\n", "http://$ID {\n\tlog\n", "http://$API {\n", "http://$API {\n\tlog\n",
		"users file $DIR/users.json", "users panicky",
	).Replace(faultySite)
	g, _, m := startFaultySite(t, text)
	c := new(harness.Canaries)
	c.Plant(t, "the gateway's secret", masterSecret)
	c.Plant(t, "a client's secret", web.Secret)
	b := harness.NewBrowser(t, g.ID)
	state := c.Plant(t, "state", "state-canary-0123456789")
	signIn := b.Get(authorizeURL(g, "web", "state", state))
	back := b.Authorize(authorizeURL(g, "web", "state", state), username, password).Query()
	unspent := c.Plant(t, "code", back.Get("code"))
	access, refresh := tokens(t, g, web)
	c.Plant(t, "access token", access)
	c.Plant(t, "refresh token", refresh)
	u, err := url.Parse(g.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range b.Client.Jar.Cookies(u) {
		c.Plant(t, "cookie "+cookie.Name, cookie.Value)
	}
	pass := c.Plant(t, "a password", "password-canary-0123456789")
	_, form := harness.Form(t, signIn)
	c.Plant(t, "the form's token", form.Get("token"))
	c.Plant(t, "the sealed request", form.Get("request"))

	var bodies []string
	expect := func(status int, p harness.Page) {
		t.Helper()
		if p.Status != status {
			t.Errorf("%d, want %d: %.300s", p.Status, status, p.Body)
		}
		bodies = append(bodies, p.Body)
	}
	fresh := harness.NewBrowser(t, g.ID)
	expect(http.StatusInternalServerError, fresh.Submit(fresh.Get(authorizeURL(g, "web", "state", state)), url.Values{"username": {"bob"}, "password": {pass}}))
	m.Fail(errors.New("the store is away"))
	expect(http.StatusServiceUnavailable, g.Token(t, web, exchange(unspent, callback)))
	expect(http.StatusServiceUnavailable, g.Token(t, web, refreshWith(refresh)))
	expect(http.StatusServiceUnavailable, at(t, g, "/revoke", web, tokenForm(refresh)))
	expect(http.StatusServiceUnavailable, at(t, g, "/par", web, url.Values{"response_type": {"code"}, "client_id": {"web"}, "redirect_uri": {callback}, "state": {state}, "scope": {"read"}}))
	expect(http.StatusServiceUnavailable, b.Get(authorizeURL(g, "web", "state", state)))
	expect(http.StatusServiceUnavailable, b.Get(g.ID+"/account?x="+state))
	expect(http.StatusServiceUnavailable, b.Post(g.ID+"/login", url.Values{"token": form["token"], "request": form["request"], "username": {username}, "password": {pass}}))
	m.Fail(nil)

	for _, body := range bodies {
		for _, found := range c.Find(body) {
			t.Error("a body:", found)
		}
	}
	// The line of a request is written after its answer.
	var raw []byte
	for deadline := time.Now().Add(5 * time.Second); bytes.Count(raw, []byte(`"status":503`)) < 7; time.Sleep(10 * time.Millisecond) {
		if raw, err = os.ReadFile(filepath.Join(g.Dir, "default.log")); err != nil || time.Now().After(deadline) {
			t.Fatalf("the log is not that of this run: %v: %s", err, raw)
		}
	}
	if !bytes.Contains(raw, []byte("the authorization server panicked")) {
		t.Errorf("no panic is logged: %s", raw)
	}
	found, looked := c.FindFiles(t, g.Dir, nil)
	if looked < 1 {
		t.Error("no file was looked at")
	}
	for _, f := range found {
		t.Error(f)
	}
}
