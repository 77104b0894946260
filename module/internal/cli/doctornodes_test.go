package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func TestTheDoctorLooksForWhatSeveralNodesMustShare(t *testing.T) {
	for name, c := range map[string]struct{ store, limiter, handler, want string }{
		"one node":                     {`{}`, `{}`, "api_limit", ""},
		"one node, in words":           {`{"type":"bolt"}`, `{"type":"memory"}`, "api_limit", ""},
		"counts of each":               {`{"type":"redis"}`, `{"type":"memory"}`, "api_limit", "warn several nodes admit so many times the limit"},
		"counts of each, by default":   {`{"type":"redis"}`, `{}`, "api_limit", "warn several nodes admit so many times the limit"},
		"nothing is counted":           {`{"type":"redis"}`, `{}`, "oauth_guard", "ok several nodes can serve"},
		"state of each":                {`{"type":"bolt"}`, `{"type":"redis"}`, "api_limit", "warn several nodes know different users"},
		"everything in the same place": {`{"type":"redis"}`, `{"type":"redis"}`, "api_limit", "ok several nodes can serve"},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example","store":%s,"limiter":%s},"http":{"servers":{"s":{"listen":[":443"],"routes":[{"handle":[{"handler":%q}]}]}}}}}`,
				c.store, c.limiter, c.handler)
			text = strings.NewReplacer(`"store":{},`, "", `,"limiter":{}`, "", `"limiter":{}`, `"name":""`).Replace(text)
			all, err := lookAtConfig([]byte(text), adminapi.Examination{Issuer: "https://id.example"})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range all {
				if f.Check == "nodes" {
					got += f.Grade + " " + f.Message
				}
			}
			grade, part, _ := strings.Cut(c.want, " ")
			if (got == "") != (c.want == "") || !strings.HasPrefix(got, grade) || !strings.Contains(got, part) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestDurationsAreWrittenShortly(t *testing.T) {
	for want, seconds := range map[string]int{"1s": 1, "1m": 60, "1m30s": 90, "1h": 3600, "1h1m": 3660, "24h": 86400, "10m": 600, "10h": 36000, "1h0m5s": 3605} {
		if got := shortly(time.Duration(seconds) * time.Second); got != want {
			t.Errorf("%d s: %s, want %s", seconds, got, want)
		}
	}
}

func TestExplainSaysWhereRequestsAreCounted(t *testing.T) {
	const text = `{"apps":{"gatehouse":{"issuer":"https://id.example","store":{"type":"redis"},"limiter":{"type":"redis"}},"http":{"servers":{"s":{"listen":[":443"],"routes":[{"handle":[
		{"handler":"oauth_guard"},{"handler":"api_limit","policies":[{"name":"client","by":"client","limit":5,"window":60000000000}]},
		{"handler":"api_limit","on_outage":"closed","limiter":"mail","policies":[{"name":"all","by":"all","limit":1,"window":1000000000}]},{"handler":"reverse_proxy"}]}]}}}}}`
	c, err := readConfiguration([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	q, err := newQuestion("GET", "/articles", []string{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := explain(c, q)
	if err != nil || len(all) != 1 || len(all[0].Limits) != 2 {
		t.Fatalf("%+v %v", all, err)
	}
	var out strings.Builder
	all[0].text(&out)
	for _, want := range []string{"client 5 1m (counted by redis, on_outage local)", "all 1 1s (counted by redis, on_outage closed)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
