package gateway

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

func TestUnsetPlaceholderIsNamed(t *testing.T) {
	for configured, want := range map[string]string{
		"{env.GATEHOUSE_NOT_SET}":            "the environment variable GATEHOUSE_NOT_SET is not set, or is empty",
		"{file./nonexistent/secret}":         "the file /nonexistent/secret cannot be read, or is empty",
		"{env.GATEHOUSE_NOT_SET}{env.OTHER}": "GATEHOUSE_NOT_SET",
		"{nonsense}":                         "nonsense",
	} {
		if got, err := filled(configured, caddy.NewReplacer()); err == nil || !strings.Contains(err.Error(), want) || got != "" {
			t.Errorf("%s: %q %v", configured, got, err)
		}
	}
	t.Setenv("GATEHOUSE_SET", "a value")
	if got, err := filled("{env.GATEHOUSE_SET}", caddy.NewReplacer()); got != "a value" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

func TestLiteralSecretWithABraceIsNoPlaceholder(t *testing.T) {
	for s, want := range map[string]bool{"{env.A}": true, "a{file.b}c": true, "": false, "a": false, "a{b": false, "a}b": false, "a}b{c": false} {
		if Placeholder(s) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
	literal := "0123456789-0123456789-0123456789-{"
	for want, app := range map[string]*App{
		"secret 1: expected a placeholder":        {Secrets: []string{literal}},
		"initial_token 1: expected a placeholder": {Registration: &Registration{InitialTokens: []string{literal}}},
	} {
		if err := app.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
