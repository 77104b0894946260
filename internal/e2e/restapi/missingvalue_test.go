package restapi

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// What `send fixed` and `login` need and what is not there is in the log before any request comes.
func TestMissingValuesAreLoggedAtLoad(t *testing.T) {
	u := harness.NewUpstream(t)
	missing := filepath.Join(t.TempDir(), "password")
	_, logged := startLogging(t, u.Addr, `"upstream": [{"handle": [{"handler": "reverse_proxy", "upstreams": [{"dial": "`+u.Addr+`"}]}]}],
		"login": {"steps": [{"method": "POST", "upstream": "/token", "send": [{"name": "password", "value": "{file.`+missing+`}"}], "keep": [{"from": "cookie"}]}]},
		"resources": [{"path": "things", "fixed": [{"name": "key", "value": "{env.GATEHOUSE_E2E_UNSET}"}]}]`)
	text := logged()
	for _, want := range []string{
		`"word":"send fixed key","placeholder":"{env.GATEHOUSE_E2E_UNSET}"`,
		`"word":"login password","placeholder":"{file.` + missing + `}"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log has no %s", want)
		}
	}
}
