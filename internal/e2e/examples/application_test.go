package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// linkPackages gives an example the packages of npm that the tests have.
func linkPackages(t *testing.T, e *example.Example) {
	t.Helper()
	packages, err := filepath.Abs("../../../.ci/node/node_modules")
	harness.FailOn(t, err)
	harness.FailOn(t, os.Symlink(packages, filepath.Join(e.Dir, "node_modules")))
}

// use starts an example and uses it in Chromium, then does what its page says.
func use(t *testing.T, e *example.Example, scenario string) {
	t.Helper()
	linkPackages(t, e)
	e.Start(t)
	env := []string{
		"APP=" + e.At("http://localhost:8082"), "ISSUER=" + e.At("http://localhost:8080"), "USERNAME=alice", "PASSWORD=" + harness.Password,
		"SHOTS=" + harness.Pictures(t, "examples"),
	}
	harness.Node(t, 5*time.Minute, "applications.js "+scenario, env, func(string) string { return "" })
	e.Follow(t)
	e.Private(t, "state/state.db", "state/caddy.log")
}

func TestWebAppExample(t *testing.T) {
	t.Parallel()
	e := example.Copy(t, "web-app")
	// Each request finds an expired token, so that it is refreshed.
	text, lifetime := e.Read(t, "app.js"), "tokens.expires_in * 1000"
	if !strings.Contains(text, lifetime) {
		t.Fatalf("app.js has no %q", lifetime)
	}
	harness.FailOn(t, os.WriteFile(filepath.Join(e.Dir, "app.js"), []byte(strings.Replace(text, lifetime, "-1", 1)), 0o600))
	use(t, e, "webApp")
	e.Unwritten(t, e.Secret(t, "SHOP_SECRET"))
	if n := strings.Count(e.Read(t, "state/caddy.log"), `"reason":"refresh_token","ip"`); n < 3 {
		t.Errorf("tokens were refreshed or revoked %d times, want two refreshes and a revocation", n)
	}
}

func TestSPAExample(t *testing.T) {
	t.Parallel()
	use(t, example.Copy(t, "spa"), "spa")
}

func TestRunSaysWhichPackageIsMissing(t *testing.T) {
	t.Parallel()
	programs := t.TempDir() // no npm
	for _, name := range []string{"bash", "dirname", "mkdir", "curl", "node"} {
		file, err := exec.LookPath(name)
		harness.FailOn(t, err)
		harness.FailOn(t, os.Symlink(file, filepath.Join(programs, name)))
	}
	for name, want := range map[string]string{"web-app": "this example needs openid-client from npm", "spa": "this example needs oidc-client-ts from npm"} {
		e := example.Copy(t, name)
		cmd := exec.Command(filepath.Join(e.Dir, "run.sh"), "/bin/false")
		cmd.Env = append(e.Env, "PATH="+programs)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
