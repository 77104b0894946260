package restapi

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// Explain reports what dispatch decides, and the handler acts on it.
func TestDispatchDecidesWhatAnswers(t *testing.T) {
	const config = `{"openapi": {}, "vendor": "acme", "upstream": [{}], "versions": [{"name": "v1"}],
		"jobs": [{"path": "imports", "upstream": "/i"}, {"path": "reports", "upstream": "/r", "when": "preferred"}],
		"resources": [{"path": "articles"}, {"path": "reports"}]}`
	const async = "; with `Prefer: respond-async` it makes a job of it: job reports"
	for _, c := range []struct {
		request, header string
		to              target
		text            string // the end of the explanation
	}{
		{"GET /articles", "", toOperation, "read of resource articles: GET /articles"},
		{"HEAD /v1/articles/7", "", toOperation, "read of resource articles: GET /articles/{id}"},
		{"OPTIONS /articles", "", toMethods, "GET, HEAD, OPTIONS, PATCH, POST"},
		{"PUT /articles", "", toRefusal, ""}, {"GET /other", "", toRefusal, ""}, {"GET /articles/a%2Fb", "", toRefusal, ""},
		{"GET /articles", "Accept: application/vnd.acme.v9+json", toRefusal, ""},
		{"GET /openapi.json", "", toDescription, "describes the API"}, {"GET /v1/openapi", "", toDescription, "describes the API"},
		{"POST /imports", "", toNewJob, "job imports"}, {"POST /v1/imports", "", toNewJob, "job imports"},
		{"GET /imports", "", toJobMethods, "only POST there, which makes a job"}, {"POST /imports/", "", toRefusal, ""},
		{"GET /jobs/7", "", toJobStatus, "answers for a job"}, {"DELETE /jobs/7", "", toJobStatus, "answers for a job"}, {"GET /jobs/7/x", "", toRefusal, ""},
		{"GET /jobs/7", "Accept: application/vnd.acme.v9+json", toRefusal, ""},
		{"POST /reports", "", toOperation, "create of resource reports: POST /reports" + async},
		{"POST /reports", "Prefer: respond-async", toNewJob, "job reports"}, {"POST /reports", "Prefer: wait=5", toNewJob, "job reports"},
		{"GET /reports", "Prefer: respond-async", toOperation, "read of resource reports: GET /reports"},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		r := httptest.NewRequest(method, path, nil)
		if name, value, ok := strings.Cut(c.header, ": "); ok {
			r.Header.Set(name, value)
		}
		handlers := make(Handlers)
		x, err := Explain(handlers, []byte(config), r)
		if err != nil || !strings.HasSuffix(x.Text, c.text) || strings.Contains(x.Text, "refuses") != (c.to == toRefusal) {
			t.Errorf("%s %s: %+v, %v", c.request, c.header, x, err)
			continue
		}
		h := handlers[config]
		choice, refused := h.versions.Negotiate(r.URL.EscapedPath(), r.Header["Accept"])
		if refused != nil {
			continue
		}
		if d := dispatch(h, r, choice, h.editionOf(choice).table); d.target != c.to {
			t.Errorf("%s %s: %v, want %v", c.request, c.header, d.target, c.to)
		}
	}
	x, err := Explain(nil, []byte(`{"undeclared": "pass", "resources": [{"path": "articles"}]}`), httptest.NewRequest("GET", "/other", nil))
	if err != nil || x.Ends || !strings.Contains(x.Text, "lets it pass") {
		t.Errorf("%+v, %v", x, err)
	}
}
