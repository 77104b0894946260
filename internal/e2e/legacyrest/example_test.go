package legacyrest

import (
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/example"
)

// stand is the example, running.
type stand struct {
	*example.Example
	issuer, api, files string
}

func start(t *testing.T) *stand {
	t.Helper()
	e := example.Start(t, "legacy-rest", "legacy")
	return &stand{e, e.At("http://localhost:8080"), e.At("http://localhost:8081"), e.At("https://localhost:8082")}
}

func TestExampleREADMEWorksLineByLine(t *testing.T) {
	s := start(t)
	for _, want := range []string{s.api, s.At("http://127.0.0.1:8083"), "state/env"} {
		if !strings.Contains(s.Out.String(), want) {
			t.Errorf("run.sh does not say %s", want)
		}
	}
	example.Promised(t, s.Walk(t),
		`"total":"312"`, `"success":false`, "200", // before
		`"pagination":{"total":62,"page":2,"limit":2,"total_pages":31}`, `rel="next"`, "X-RateLimit-Limit: 600", `"field":"sort"`, // lists
		"/articles/1313", `"state":"draft"`, `"state":"published"`, "The old ferry", // an article's life
		"Idempotency-Replayed: true", `"rel":"self"`, `"rel":"delete"`, // again, and links
		`"field":"title"`, `"field":"body"`, "200", "precondition_failed", "204", "not_found", // constraints and conditions
		"unauthorized", "insufficient_scope", "not_found", "Allow: GET", "method_not_allowed", // errors
		"act=get&aid=1002", "200 OK", `"id":1002`, `"rel":"self"`, "act=get&aid=7", "404 Not Found", `"code":"not_found"`, // tried
		`"/students/3/friends/1"`, "204", // friends
		`"status":200`, `"status":404`, "207", `"field":"/0/op"`, // a batch
		`"state":"queued"`, "not_found", `"state":"succeeded"`, `"imported":3`, `"field":"file_url"`, // jobs
		`"/v1/articles/1002"`, `"created_at":"2024-`, "vnd.acme.v2", "not_found", "not_acceptable", // versions
		"forbidden", `"id":"u-1001"`, // a profile
		`"openapi"`, "getStudent", // a description, and names
		"429", "Retry-After", "rate_limited", // limits
	)
	s.Private(t, "state/env", "state/state.db", "state/caddy.log", "state/files.key")
	s.Unwritten(t, s.Secret(t, "EDITOR_SECRET"))
}

func TestRunReportsATakenPortAndEndsWithItsPrograms(t *testing.T) {
	e := example.Copy(t, "legacy-rest", "legacy")
	e.RefusesTakenPorts(t)
	e.EndsWithEachProgram(t)
}
