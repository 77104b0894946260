package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// privateKey is a key set as a client must never give it away.
const privateKey = `{"keys":[{"kty":"EC","crv":"P-256","x":"1DrrMvZyaUcqvk4cJzdQBYbR3v7ftCBfBNXGkAhXtZY","y":"RF5K322MeT4gS2wyLp70GFJIuOtAEraa1tRkpUozamg","d":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"}]}`

// shortModulus is one of 1024 bits.
var shortModulus = base64.RawURLEncoding.EncodeToString(append([]byte{0xc0}, bytes.Repeat([]byte{1}, 127)...))

// O01: a program with such a configuration ends with code 1 and says where the mistake
// is, without repeating what is secret.
func TestUnsafeConfigIsRefusedWithItsLocation(t *testing.T) {
	g := harness.Prepare(t, "$UPSTREAM", "localhost:1", "$GLOBAL", "", "$GUARD", "")
	const secret, redirect = "secret web-secret-0123456789-0123456789-0123456789", "redirect_uri https://client.example/cb"
	for name, c := range map[string]struct {
		old, changed string
		says         []string
		hides        string
	}{
		"a plain http address of a web client": {redirect, "redirect_uri http://client.example/cb", []string{"redirect_uri", "https"}, ""},
		"a wildcard in an address":             {redirect, "redirect_uri https://*.client.example/cb", []string{"redirect_uri", "wildcard"}, ""},
		"an address with a fragment":           {redirect, "redirect_uri https://client.example/cb#x", []string{"redirect_uri", "fragment"}, ""},
		"an address that is a script":          {redirect, "redirect_uri javascript:alert(1)", []string{"redirect_uri"}, ""},
		"a secret of 31 characters":            {secret, "secret hunter2-0123456789-0123456789-0", []string{"secret", "32"}, "hunter2"},
		"a secret that is empty":               {secret, `secret ""`, []string{"secret"}, ""},
		"a secret that is not set":             {secret, "secret {env.GATEHOUSE_NOT_SET}", []string{"secret"}, ""},
		"no secret and not public":             {secret + "\n", "\n", []string{"secret"}, ""},
		"a second client of the name":          {"client machine {", "client web {", []string{"web is declared twice"}, "machine-secret"},
		"a word that nobody knows":             {"users store", "users store\n\t\tallow_everything", []string{"allow_everything"}, ""},
		"a word of a client that nobody knows": {secret, secret + "\n\t\t\tany_redirect", []string{"any_redirect"}, "web-secret"},
		"id_tokens that are not signed":        {secret, secret + "\n\t\t\tid_token_alg none", []string{"id_token_alg", "none"}, "web-secret"},
		"access tokens that are not signed":    {"audience https://api.example", "audience https://api.example\n\t\t\talg none", []string{"alg", "none"}, ""},
		"access tokens with a shared key":      {"audience https://api.example", "audience https://api.example\n\t\t\talg HS256", []string{"alg", "HS256"}, ""},
		"an RSA key of 1024 bits":              {secret, "jwks `{\"keys\":[{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"" + shortModulus + "\"}]}`", []string{"jwks", "1024"}, shortModulus},
		"a private key of a client":            {secret, "jwks `" + privateKey + "`", []string{"jwks", "private"}, `"d":`},
		"an issuer on plain http":              {"issuer http://$ID", "issuer http://id.example", []string{"issuer", "https"}, ""},
		"the gateway's secret in the open":     {"users store", "users store\n\t\tsecret hunter2-0123456789-0123456789-0123456789", []string{"secret"}, "hunter2"},
		"a scope that is not declared":         {"default_scopes read", "default_scopes read delete", []string{"delete"}, ""},
	} {
		t.Run("O01 "+name, func(t *testing.T) {
			text := strings.Replace(site, c.old, c.changed, 1)
			if text == site {
				t.Fatal("nothing was changed")
			}
			code, out := ends(t, g, text)
			if code != 1 {
				t.Errorf("exit %d: %s", code, out)
			}
			// By its place in the file, or by the client, when only the whole can tell.
			if !strings.Contains(out, "/Caddyfile:") && !strings.Contains(out, "client web") && !strings.Contains(out, "issuer") {
				t.Errorf("where it is is not said: %s", out)
			}
			for _, want := range c.says {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not said: %s", want, out)
				}
			}
			if c.hides != "" && strings.Contains(out, c.hides) {
				t.Errorf("%q is said: %s", c.hides, out)
			}
		})
	}
}

// ends starts the program with a configuration that must end it. It gives the code and
// what was printed.
func ends(t *testing.T, g *harness.Gateway, text string) (code int, out string) {
	t.Helper()
	file := g.WriteFile(t, "Caddyfile", g.Text(text))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, harness.Program(t), "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+g.Dir, "XDG_CONFIG_HOME="+g.Dir, "HOME="+g.Dir)
	printed, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("it runs: %s", printed)
	}
	if err == nil {
		return 0, string(printed)
	}
	return cmd.ProcessState.ExitCode(), string(printed)
}
