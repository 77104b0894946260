package cli

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
)

// tryText is what a person sees of a trial, or the error.
func tryText(t *testing.T, method, address, body string) string {
	t.Helper()
	c, err := readConfiguration([]byte(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],"routes":[{"match":[{"host":["api.example"]}],"handle":[
		{"handler":"api_rest","openapi":{},"jobs":[{"path":"imports","upstream":"/i"}],"upstream":[{"handle":[{"handler":"reverse_proxy"}]}],"versions":[{"name":"v1"}],"errors":{"fail_when":[{"pointer":"/ok","op":"==","values":["false"],"status":422}]},
		 "resources":[{"path":"articles","item":"/result","list":{"items":"/result/list"},"rename":{"title":"subject"}}]}]}]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := newQuestion(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	up := restapi.Imagined{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}
	tried, err := try(c, q, "", http.Header{}, nil, up)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	textOf(&out, tried)
	return out.String()
}

func TestATrialSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ method, address, body, want string }{
		{"GET", "/articles/7", `{"data":{}}`, "`item /result`"},
		{"GET", "/articles", `{"result":{"items":[]}}`, "`items /result/list`"},
		{"GET", "/v1/articles", `{"result":{"items":[]}}`, "`items /result/list`"},
		{"GET", "/articles/7", `{"result":{"subject":"Ma`, "Why:\tthe upstream's answer could not be translated"},
		{"GET", "/articles/7", `not json`, "at byte 1, expected true, false or null"},
		{"GET", "/articles/7", `{"result":{"list":[]},"more":` + strings.Repeat("[", 300), "Why:\tthe upstream's answer could not be translated"},
		{"POST", "/imports", ``, "POST /imports: api_rest makes a job of it: job imports, which is not tried offline"},
		{"GET", "/jobs/7", ``, "answers for a job, which is not tried offline"},
		{"GET", "/v1/openapi.json?x", ``, "GET /v1/openapi.json?x: api_rest describes the API, which is not tried offline"},
	} {
		if got := tryText(t, c.method, c.address, c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s %s with %.40s: no %s in\n%s", c.method, c.address, c.body, c.want, got)
		}
	}
	for address, body := range map[string]string{"/articles/7": `{"result":{"subject":"x"}}`, "/articles?page=x": `{}`, "/other": `{}`, "/articles/8": `{"ok":false}`} {
		if got := tryText(t, "GET", address, body); strings.Contains(got, "Why:") || !strings.Contains(got, "Answer:") {
			t.Errorf("%s: %s", address, got)
		}
	}
}
