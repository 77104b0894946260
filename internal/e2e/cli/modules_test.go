package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// run runs the program, and returns what it prints to standard output.
func run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(harness.Program(t), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &errs, append(os.Environ(), "HOME="+t.TempDir(), "WEB_SECRET=0123456789-0123456789-0123456789-0123456789")
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return out.String()
}

// The names are of Gatehouse alone: another plugin with the same would end the program at its start.
func TestProgramListsItsModules(t *testing.T) {
	want := []string{
		"admin.api.gatehouse", "gatehouse", "gatehouse.directories.file", "gatehouse.directories.http", "gatehouse.directories.ldap", "gatehouse.directories.sql",
		"gatehouse.directories.store", "gatehouse.limiters.memory", "gatehouse.limiters.redis", "gatehouse.stores.bolt", "gatehouse.stores.redis",
		"http.authentication.providers.gatehouse", "http.handlers.gatehouse_errors", "http.handlers.gatehouse_guard", "http.handlers.gatehouse_health",
		"http.handlers.gatehouse_limit", "http.handlers.gatehouse_proxy", "http.handlers.gatehouse_rest", "http.handlers.gatehouse_server", "http.matchers.oauth_scope",
		"http.reverse_proxy.transport.gatehouse_revealing",
	}
	var got []string
	for line := range strings.Lines(run(t, "list-modules", "--skip-standard")) {
		if name := strings.TrimSpace(line); name != "" && !strings.Contains(name, ":") && !strings.Contains(name, " ") {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the modules are %v", got)
	}
}

// A Caddyfile that is formatted and adapted is the same configuration, which the program accepts as JSON too.
func TestConfigRoundTripsThroughFmtAndAdapt(t *testing.T) {
	dir := t.TempDir()
	file, plain := filepath.Join(dir, "Caddyfile"), `{
admin off
gatehouse {
issuer http://127.0.0.1:9
store bolt `+filepath.Join(dir, "state.db")+`
scope read "Read"
client web {
secret {env.WEB_SECRET}
redirect_uri https://web.example/a https://web.example/b
scopes read
}
}
}
http://127.0.0.1:9 {
oauth_server
}
http://127.0.0.1:8 {
@read oauth_scope read
gatehouse_health {
ready /healthz
}
api_errors
oauth_guard {
scope read GET /articles /articles/*
}
api_limit {
client 10 1m
}
respond @read read
respond other
}
`
	if err := os.WriteFile(file, []byte(plain), 0o600); err != nil {
		t.Fatal(err)
	}
	before := run(t, "adapt", "--pretty", "--config", file)
	run(t, "fmt", "--overwrite", file)
	formatted, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(formatted), "\n\t\tclient web {\n\t\t\tsecret {env.WEB_SECRET}\n") {
		t.Errorf("%v: %s", err, formatted)
	}
	if again := run(t, "fmt", file); again != string(formatted) {
		t.Errorf("formatted twice: %s", again)
	}
	if after := run(t, "adapt", "--pretty", "--config", file); after != before {
		t.Errorf("adapted after it was formatted\n%s\nbefore\n%s", after, before)
	}
	asJSON := filepath.Join(dir, "caddy.json")
	if err := os.WriteFile(asJSON, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := run(t, "adapt", "--pretty", "--adapter", "caddyfile", "--config", file); again != before {
		t.Error("adapting is not repeatable")
	}
	run(t, "validate", "--config", asJSON)
}
