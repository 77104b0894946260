package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

func TestDoctorChecksWhatNodesMustShare(t *testing.T) {
	for name, c := range map[string]struct{ store, limiter, handler, want string }{
		"one node":                     {`{}`, `{}`, "gatehouse_limit", ""},
		"one node, in words":           {`{"type":"bolt"}`, `{"type":"memory"}`, "gatehouse_limit", ""},
		"counts of each":               {`{"type":"redis"}`, `{"type":"memory"}`, "gatehouse_limit", "warn several nodes admit so many times the limit"},
		"counts of each, by default":   {`{"type":"redis"}`, `{}`, "gatehouse_limit", "warn several nodes admit so many times the limit"},
		"nothing is counted":           {`{"type":"redis"}`, `{}`, "gatehouse_guard", "ok several nodes can serve"},
		"state of each":                {`{"type":"bolt"}`, `{"type":"redis"}`, "gatehouse_limit", "warn several nodes know different users"},
		"everything in the same place": {`{"type":"redis"}`, `{"type":"redis"}`, "gatehouse_limit", "ok several nodes can serve"},
	} {
		t.Run(name, func(t *testing.T) {
			text := fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example","store":%s,"limiter":%s},"http":{"servers":{"s":{"listen":[":443"],"routes":[{"handle":[{"handler":%q}]}]}}}}}`,
				c.store, c.limiter, c.handler)
			text = strings.NewReplacer(`"store":{},`, "", `,"limiter":{}`, "", `"limiter":{}`, `"name":""`).Replace(text)
			all, err := Configuration([]byte(text), adminapi.Examination{Issuer: "https://id.example"})
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
