package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// tryText is what a person sees of a trial, or the error.
func tryText(t *testing.T, method, address, body string) string {
	t.Helper()
	c, err := explain.ReadConfiguration([]byte(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"s":{"listen":[":443"],"routes":[{"match":[{"host":["api.example"]}],"handle":[
		{"handler":"gatehouse_rest","openapi":{},"jobs":[{"path":"imports","upstream":"/i"}],"upstream":[{"handle":[{"handler":"reverse_proxy"}]}],"versions":[{"name":"v1"}],"errors":{"fail_when":[{"pointer":"/ok","op":"==","values":["false"],"status":422}]},
		 "resources":[{"path":"articles","item":"/result","list":{"items":"/result/list"},"rename":{"title":"subject"}}]}]}]}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := explain.NewQuestion(method, address, nil)
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

func TestTryReportsWhatIsWrongAndWhere(t *testing.T) {
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

// N17: sites on several ports of one host are told apart by the port.
func TestTryChoosesASiteByItsPort(t *testing.T) {
	const at = `{"listen":["127.0.0.1:%s"],"routes":[{"match":[{"host":["localhost"]}],"handle":[{"handler":"gatehouse_rest","upstream":[{"handle":[{"handler":"reverse_proxy"}]}],"resources":[{"path":"%s"}]}]}]}`
	text := `{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{"a":` + fmt.Sprintf(at, "81", "articles") + `,"b":` + fmt.Sprintf(at, "82", "books") + `,"c":` + fmt.Sprintf(at, "83", "books") + `}}}}`
	c, err := explain.ReadConfiguration([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	const which = "expected --site with one of: localhost:81, localhost:82"
	for _, q := range []struct{ site, address, want string }{
		{"", "/books/7", which}, {"localhost", "/books/7", which}, {"", "http://localhost/books/7", which}, {"", "http://localhost:9999/books/7", which},
		{"localhost:82", "/books/7", "200"}, {"localhost:83", "/books/7", "200"}, {"localhost:81", "/books/7", "404"}, {"", "http://localhost:82/books/7", "200"}, {"", "http://localhost:81/books/7", "404"},
		{"localhost:84", "/books/7", "no api_rest stands there, expected one of: localhost:81, localhost:82"}, {"other", "/books/7", "no api_rest stands there"},
	} {
		asked, err := explain.NewQuestion("GET", q.address, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		tried, err := try(c, asked, q.site, http.Header{}, nil, restapi.Imagined{Status: 200})
		if got = fmt.Sprint(tried.Status); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, q.want) {
			t.Errorf("--site '%s' %s: %s, want %s", q.site, q.address, got, q.want)
		}
	}
}
