package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

const tried = `{
	gatehouse {
		issuer http://localhost:1
		scope read "Read"
	}
}
http://localhost:2 {
	oauth_guard {
		scope read /things /things/*
	}
	api_rest {
		to localhost:1
		resource things {
			upstream GET /things/{id} /t.php?id={id}
			item /r
			rename name=n
		}
		errors {
			fail_when /ok == false status 422
		}
	}
}
`

// Nothing runs, and nothing is dialled: localhost:1 answers nobody.
func TestTryShowsTheTranslatedAnswerOffline(t *testing.T) {
	g := harness.Prepare(t)
	file := g.WriteFile(t, "Caddyfile", tried)
	for _, c := range []struct {
		words, body string
		url         string
		status      int
		answer      string
	}{
		{"GET /things/a%40b", `{"r":{"n":"x","big":12345678901234567890}}`, "/t.php?id=a%40b", 200, `{"name":"x","big":12345678901234567890}`},
		{"GET /things/a%2Fb", `{}`, "", 404, `"code":"not_found"`},
		{"GET /things/7", `{"ok":false,"message":"No such thing"}`, "/t.php?id=7", 422, `"message":"No such thing"`},
		{"GET /other", `{}`, "", 404, `"code":"not_found"`},
		{"GET /things/7 --status 404", `{"message":"gone away"}`, "/t.php?id=7", 404, `"message":"gone away"`},
		{"DELETE /things/7", `{}`, "", 405, `"code":"method_not_allowed"`},
	} {
		answer := g.WriteFile(t, "answer.json", c.body)
		out := program(t, "", append(append([]string{"gatehouse", "rest", "try"}, strings.Fields(c.words)...), "--config", file, "--body", answer, "--format", "json")...)
		var got struct {
			Sent   []struct{ URL string }
			Status int
			Body   string
		}
		if err := json.Unmarshal([]byte(out.out), &got); err != nil || out.code != 0 {
			t.Fatalf("%s: %v %+v", c.words, err, out)
		}
		url := ""
		if len(got.Sent) == 1 {
			url = got.Sent[0].URL
		}
		if url != c.url || got.Status != c.status || !strings.Contains(got.Body, c.answer) {
			t.Errorf("%s: %+v", c.words, got)
		}
	}
	for words, want := range map[string]string{
		"GET /things --site nowhere": "expected one of: localhost", "GET things": "expected an address", "GET /things --status 99": "expected one from 200 to 599",
		"GET /things --header x": "expected a name, a colon and a value", "GET /things --body nowhere.json": "no such file",
	} {
		out := program(t, "", append(append([]string{"gatehouse", "rest", "try"}, strings.Fields(words)...), "--config", file)...)
		if out.code != 1 || !strings.Contains(out.err, want) {
			t.Errorf("%s: %+v", words, out)
		}
	}
}

func TestExplainNamesTheOperation(t *testing.T) {
	g := harness.Prepare(t)
	file := g.WriteFile(t, "Caddyfile", tried)
	out := program(t, "", "gatehouse", "explain", "GET", "http://localhost:2/things/7", "--config", file, "--scope", "read")
	if out.code != 0 || !strings.Contains(out.out, "api_rest takes it for read of resource things: GET /things/{id}") || !strings.Contains(out.out, "Then:") {
		t.Errorf("%+v", out)
	}
}

// S06: an api_rest is tried without the rest of the gateway.
func TestTryWorksWithoutTheGlobalOption(t *testing.T) {
	g := harness.Prepare(t)
	file := g.WriteFile(t, "Caddyfile", "http://localhost:2 {\n\tapi_rest {\n\t\tto localhost:1\n\t\tresource things\n\t}\n}\n")
	answer := g.WriteFile(t, "answer.json", `[{"id":1}]`)
	out := program(t, "", "gatehouse", "rest", "try", "GET", "/things", "--config", file, "--body", answer)
	if out.code != 0 || !strings.Contains(out.out, `{"data":[{"id":1}],"pagination":`) {
		t.Errorf("S06 %+v", out)
	}
	if out := program(t, "", "gatehouse", "explain", "GET", "/things", "--config", file); out.code == 0 {
		t.Errorf("S06 explain needs what a guard has: %+v", out)
	}
}
