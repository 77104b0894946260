package cli

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

func TestExplainKnowsVariantBScopes(t *testing.T) {
	const text = `{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],"routes":[{"handle":[
		{"handler":"gatehouse_guard","rules":[{"scopes":["snsapi_userinfo"],"paths":["/x"]}]},{"handler":"reverse_proxy"}]}]}}}}}`
	c, err := explain.ReadConfiguration([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for scope, passes := range map[string]bool{"snsapi_userinfo": true, "snsapi_login": false} {
		q, err := explain.NewQuestion("GET", "/x", []string{scope})
		if err != nil {
			t.Fatal(err)
		}
		all, err := explain.Request(c, q)
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v %v", all, err)
		}
		var out strings.Builder
		explanationText(&out, all[0])
		if strings.Contains(out.String(), "not declared") || strings.Contains(out.String(), "403") == passes {
			t.Errorf("%s:\n%s", scope, &out)
		}
	}
}

func TestExplainShowsWhereRequestsAreCounted(t *testing.T) {
	const text = `{"apps":{"gatehouse":{"issuer":"https://id.example","store":{"type":"redis"},"limiter":{"type":"redis"}},"http":{"servers":{"s":{"listen":[":443"],"routes":[{"handle":[
		{"handler":"gatehouse_guard"},{"handler":"gatehouse_limit","policies":[{"name":"client","by":"client","limit":5,"window":60000000000}]},
		{"handler":"gatehouse_limit","on_outage":"closed","limiter":"mail","policies":[{"name":"all","by":"all","limit":1,"window":1000000000}]},{"handler":"reverse_proxy"}]}]}}}}}`
	c, err := explain.ReadConfiguration([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	q, err := explain.NewQuestion("GET", "/articles", []string{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := explain.Request(c, q)
	if err != nil || len(all) != 1 || len(all[0].Limits) != 2 {
		t.Fatalf("%+v %v", all, err)
	}
	var out strings.Builder
	explanationText(&out, all[0])
	for _, want := range []string{"client 5 1m (counted by redis, on_outage local)", "all 1 1s (counted by redis, on_outage closed)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
