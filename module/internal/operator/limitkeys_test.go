package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// N11: a limiter in Redis takes memory for each key, and clients choose the keys of some
// policies. Whoever configures one that nothing bounds is told so.
func TestN11KeysThatNothingBoundsAreWarnedOf(t *testing.T) {
	const redis = "redis redis://127.0.0.1:1/0" // nothing connects to it for a load
	const tenant = "by tenant {http.request.header.X-Tenant} 5 1h"
	for name, c := range map[string]struct {
		limiter, policies string
		warned            bool
	}{
		"a header":                            {redis, tenant, true},
		"an address and a header":             {redis, "by x {http.request.remote.host}{http.request.header.X} 5 1h", true},
		"a limit that refuses nothing beside": {redis, tenant + "\n\t\tip 100 10s dry_run", true},
		"a limit for each address beside":     {redis, tenant + "\n\t\tip 100 10s", false},
		"a limit for all beside":              {redis, tenant + "\n\t\tall 100 10s", false},
		"an address":                          {redis, "by host {http.request.remote.host} 5 1h", false},
		"a caller":                            {redis, "by scope {http.auth.user.scope} 5 1h", false},
		"in memory":                           {"memory", tenant, false},
	} {
		t.Run("N11 "+name, func(t *testing.T) {
			g := startSite(t, strings.NewReplacer(
				"admin $ADMIN", "admin $ADMIN\n\tlog default {\n\t\toutput file $DIR/gateway.log\n\t}",
				"\tgatehouse {", "\tgatehouse {\n\t\tlimiter "+c.limiter,
				"reverse_proxy $UPSTREAM", "api_limit {\n\t\t"+c.policies+"\n\t}\n\treverse_proxy $UPSTREAM",
			).Replace(site))
			text, err := os.ReadFile(filepath.Join(g.Dir, "gateway.log"))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(text), "clients choose the key of a policy"); got != c.warned {
				t.Errorf("warned: %v\n%s", got, text)
			}
		})
	}
}
