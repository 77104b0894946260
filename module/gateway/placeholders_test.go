package gateway

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

func TestAPlaceholderThatIsNotSetIsNamed(t *testing.T) {
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
