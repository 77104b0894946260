package cli

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// Caddy skips a configuration whose JSON is the same, whatever its files contain.
func TestRemovedCredentialsAreValidUntilAForcedReload(t *testing.T) {
	g := prepare(t)
	text := changed(t, "$GLOBAL", `client keyed {
			jwks $DIR/keyed.jwks
			grants client_credentials
			scopes read
		}
		client filed {
			secret {file.$DIR/filed.secret}
			grants client_credentials
			scopes read
		}`)
	first, second := harness.NewClientKey(t), harness.NewClientKey(t)
	before := harness.Credentials{ID: "filed", Secret: strings.Repeat("before-", 6)}
	after := harness.Credentials{ID: "filed", Secret: strings.Repeat("after-", 6)}
	files := []string{g.WriteFile(t, "keyed.jwks", first.JWKS), g.WriteFile(t, "filed.secret", before.Secret)}
	g.Run(t, text)
	if _, all := examined(t, g); has(all, "warn", "reload", "") {
		t.Errorf("nothing has changed: %+v", all)
	}

	g.WriteFile(t, "keyed.jwks", second.JWKS)
	g.WriteFile(t, "filed.secret", after.Secret)
	_, all := examined(t, g)
	for _, file := range files {
		if !has(all, "warn", "reload", file+" has changed") {
			t.Errorf("no word of %s: %+v", file, all)
		}
	}

	config := "Caddyfile"
	if harness.Proxy() != "" {
		config = "caddy.json"
	}
	reload := func(flags ...string) {
		t.Helper()
		if r := program(t, "", append([]string{"reload", "--config", filepath.Join(g.Dir, config)}, flags...)...); r.code != 0 {
			t.Fatalf("%+v", r)
		}
	}
	reload()
	if status := keyedToken(t, g, first); status != http.StatusOK {
		t.Errorf("the removed key after a reload that Caddy skips: %d", status)
	}
	reload("--force")
	if _, all := examined(t, g); has(all, "warn", "reload", "") {
		t.Errorf("after the reload: %+v", all)
	}
	for name, c := range map[string]struct {
		status, want int
	}{
		"the removed key":    {keyedToken(t, g, first), http.StatusUnauthorized},
		"the new key":        {keyedToken(t, g, second), http.StatusOK},
		"the removed secret": {ownToken(t, g, before), http.StatusUnauthorized},
		"the new secret":     {ownToken(t, g, after), http.StatusOK},
	} {
		if c.status != c.want {
			t.Errorf("%s: %d, want %d", name, c.status, c.want)
		}
	}

	harness.FailOn(t, os.Remove(files[0]))
	if _, all := examined(t, g); !has(all, "warn", "reload", files[0]) {
		t.Errorf("a file is gone: %+v", all)
	}
}

func keyedToken(t *testing.T, g *harness.Gateway, key harness.ClientKey) int {
	t.Helper()
	return g.Token(t, harness.Credentials{}, url.Values{
		"grant_type": {"client_credentials"}, "scope": {"read"}, "client_assertion": {key.Assertion(t, "keyed", g.ID)},
		"client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
	}).Status
}

func ownToken(t *testing.T, g *harness.Gateway, c harness.Credentials) int {
	t.Helper()
	status, _ := clientToken(t, g, c)
	return status
}
