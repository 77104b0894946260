package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func TestTheDoctorLooksForWhatCutsPolls(t *testing.T) {
	for name, c := range map[string]struct {
		handler  string
		limit    time.Duration
		variantB bool
		want     bool
	}{
		"a short limit":         {"oauth_server", 20 * time.Second, true, true},
		"a long one":            {"oauth_server", 30 * time.Second, true, false},
		"none":                  {"oauth_server", 0, true, false},
		"another server":        {"oauth_guard", 20 * time.Second, true, false},
		"nobody who would poll": {"oauth_server", 20 * time.Second, false, false},
	} {
		text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],"write_timeout":%d,"routes":[{"handle":[{"handler":%q}]}]}}}}}`,
			c.limit, c.handler)
		all, err := lookAtConfig([]byte(text), adminapi.Examination{Issuer: "https://id.example", VariantB: c.variantB})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range all {
			found = found || f.Check == "polls" && f.Grade == "warn" && strings.Contains(f.Message, "20s")
		}
		if found != c.want {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

func TestExplainKnowsTheScopesOfVariantB(t *testing.T) {
	const text = `{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],"routes":[{"handle":[
		{"handler":"oauth_guard","rules":[{"scopes":["snsapi_userinfo"],"paths":["/x"]}]},{"handler":"reverse_proxy"}]}]}}}}}`
	c, err := readConfiguration([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for scope, passes := range map[string]bool{"snsapi_userinfo": true, "snsapi_login": false} {
		q, err := newQuestion("GET", "/x", []string{scope})
		if err != nil {
			t.Fatal(err)
		}
		all, err := explain(c, q)
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v %v", all, err)
		}
		var out strings.Builder
		all[0].text(&out)
		if strings.Contains(out.String(), "not declared") || strings.Contains(out.String(), "403") == passes {
			t.Errorf("%s:\n%s", scope, &out)
		}
	}
}
