package doctor

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// An oauth_server of an https issuer refuses plaintext by itself, also for the guard behind it.
func TestGuardsBehindTheServerTakeNoPlaintext(t *testing.T) {
	const server, guard = `{"handler":"gatehouse_server"}`, `{"handler":"gatehouse_guard"}`
	site := func(host, inner string) string {
		return fmt.Sprintf(`{"match":[{"host":[%q]}],"terminal":true,"handle":[{"handler":"subroute","routes":[%s]}]}`, host, inner)
	}
	for name, c := range map[string]struct {
		issuer, routes string
		want           int
	}{
		"in front":                       {"https://id.example", site("id.example", `{"handle":[`+server+`,`+guard+`]}`), 0},
		"in front, without hosts":        {"https://id.example", `{"handle":[` + server + `]},{"handle":[` + guard + `]}`, 0},
		"in front, in a named route":     {"https://id.example", `{"handle":[{"handler":"invoke","name":"id"}]},{"handle":[` + guard + `]}`, 0},
		"in front of a handle":           {"https://id.example", site("id.example", `{"handle":[`+server+`]},{"match":[{"path":["/api/*"]}],"handle":[{"handler":"subroute","routes":[{"handle":[`+guard+`]}]}]}`), 0},
		"behind":                         {"https://id.example", site("id.example", `{"handle":[`+guard+`,`+server+`]}`), 1},
		"for some paths":                 {"https://id.example", site("id.example", `{"match":[{"path":["/x"]}],"handle":[`+server+`]},{"handle":[`+guard+`]}`), 1},
		"for another host":               {"https://id.example", `{"match":[{"host":["id.example"]}],"handle":[` + server + `]},{"handle":[` + guard + `]}`, 1},
		"on another site":                {"https://id.example", site("id.example", `{"handle":[`+server+`]}`) + `,` + site("api.example", `{"handle":[`+guard+`]}`), 1},
		"of an issuer without TLS":       {"http://id.example", site("id.example", `{"handle":[`+server+`,`+guard+`]}`), 1},
		"beside a guard, which is first": {"https://id.example", site("id.example", `{"match":[{"path":["/api/*"]}],"handle":[{"handler":"subroute","routes":[{"handle":[`+guard+`]}]}]},{"handle":[`+server+`]}`), 1},
	} {
		read, err := explain.ReadConfiguration([]byte(fmt.Sprintf(`{"apps":{"gatehouse":{},"http":{"servers":{"s":{"listen":[":80"],"named_routes":{"id":{"handle":[%s]}},"routes":[%s]}}}}}`, server, c.routes)))
		if err != nil {
			t.Fatal(err)
		}
		issuer, err := url.Parse(c.issuer)
		if err != nil {
			t.Fatal(err)
		}
		if out := (&file{configuration: configuration{Configuration: *read, issuer: issuer}}).plaintextGuards(); len(out) != c.want {
			t.Errorf("%s: %v", name, out)
		}
	}
}
